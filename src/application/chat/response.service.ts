import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { AnswerAssembly } from '../../domain/chat/answer-assembly.js';
import type { ChatRequest, CompletionEnd, RequestMessage } from '../../domain/chat/chat.js';
import { RuntimeNotConnected, RuntimeStopped } from '../../domain/chat/errors.js';
import { Response, type ResponseEnd, responseLimits } from '../../domain/chat/response.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { textBytes } from '../../domain/shared/storage-quota.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, ServiceSettings, UnitOfWork, WorkQueue } from '../shared/ports.js';
import { found } from '../workspace/team-workspace.js';
import { ChatService } from './chat.service.js';
import { EarlierResponses } from './earlier-responses.js';
import { type ResponseKey, ResponseRepository } from './ports.js';
import { AT_ONCE_PER_ACCOUNT, RESPONSE_ATTEMPTS, RESPONSE_WAIT_MS } from './response-attempts.js';
import { ResponseReader, type ResponseStep } from './response-reader.js';
import { RuntimeReconciler } from './runtime-reconciler.js';

/** Names the task. The payload of the task has the id of the response. */
export const RESPONSE = 'response';

export interface ResponseRequest extends WithMemory {
  /** The id or the name of a project. */
  readonly model: string;
  /** `messages` has only those that this request adds. */
  readonly request: ChatRequest;
  /** For this answer only: later responses do not have them. */
  readonly instructions: string | null;
  readonly previousId: string | null;
  readonly store: boolean;
  readonly background: boolean;
  readonly repeated: Response['repeated'];
  /** Aborts when the caller disconnects or loses the permission. */
  readonly signal: AbortSignal;
}

interface OfResponse extends WithMemory {
  readonly id: string;
}

interface Answered {
  readonly response: Response;
  /** The model that has answered. Null for a response in the background. */
  readonly modelId: string | null;
}

/** A response while its answer is made. */
export interface ResponseStream {
  /** The response as it begins. */
  readonly response: Response;
  /** Returns the model that answers. It is known from the first step on. Null for a response in the background. */
  readonly modelId: () => string | null;
  readonly steps: AsyncGenerator<ResponseStep, void>;
  /** Aborts if the time for the answer is over before the consumer asks for the next step. */
  readonly expired: AbortSignal;
}

/** After the time limit, a slow reader has this time to get the error. Then the connection is closed. */
const LAST_READ_MS = 500;

/** Answers requests, stores the responses and continues them. Those of other accounts are NotFound, also for an admin. */
@injectable()
export class ResponseService {
  constructor(
    private readonly chats: ChatService,
    private readonly responses: ResponseRepository,
    private readonly earlier: EarlierResponses,
    private readonly reader: ResponseReader,
    private readonly reconciler: RuntimeReconciler,
    private readonly quotas: StorageQuotas,
    private readonly queue: WorkQueue,
    private readonly unitOfWork: UnitOfWork,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly settings: ServiceSettings,
  ) {}

  /**
   * Returns the response with its answer. A response in the background is only queued. Throws what `ChatService.complete`
   * throws, and also PreviousResponseNotFound, QuotaExceeded.
   */
  async create(by: Caller | null, input: ResponseRequest): Promise<Answered> {
    const caller = authorize(by, permissions.chat);
    if (input.background) return { response: await this.enqueue(caller, input), modelId: null };
    const { request, draft } = await this.prepare(caller, input);
    const { model, signal, memory } = input;
    memory.keep(null);
    const answer = new AnswerAssembly();
    let response = draft;
    const { modelId } = await this.chats.complete(caller, {
      ...{ model, keptIn: null, answerId: draft.id, request, signal, memory },
      store: async (completion, projectId) => {
        for (const _ of answer.addWhole(completion));
        response = await this.ended(caller, input, { ...draft, projectId }, answer, completion);
      },
    });
    return { response, modelId };
  }

  /** Returns the response while its answer is made. Throws what `create` throws before the generation. */
  async stream(by: Caller | null, input: ResponseRequest): Promise<ResponseStream> {
    const caller = authorize(by, permissions.chat);
    if (input.background) return this.followed(await this.enqueue(caller, input), input);
    const { request, draft } = await this.prepare(caller, input);
    const { model, signal, memory } = input;
    memory.keep(null);
    const answer = new AnswerAssembly();
    const last: ResponseStep[] = [];
    const finish = async (end: CompletionEnd, projectId: string) => {
      last.push(...answer.end(end.finishReason !== 'length'));
      const response = await this.ended(caller, input, { ...draft, projectId }, answer, end);
      last.push({ step: 'finished', response });
    };
    const { projectId, modelId, parts, expired } = await this.chats.stream(caller, {
      ...{ model, keptIn: null, answerId: draft.id, request, signal, memory },
      store: async (part, id) => {
        last.push(...answer.add(part));
        await finish(part.end, id);
      },
    });
    async function* steps(): AsyncGenerator<ResponseStep, void> {
      let isFirst = true;
      for await (const part of parts) {
        if (isFirst) yield { step: 'running' };
        isFirst = false;
        if (part.end) break;
        yield* answer.add(part);
        if (!answer.isFull) continue;
        await finish({ finishReason: 'length', usage: null }, projectId);
        break;
      }
      yield* last;
    }
    return { response: { ...draft, projectId }, modelId, steps: steps(), expired };
  }

  /** Returns the tokens of the whole prompt. Throws what `ChatService.countTokens` throws, and PreviousResponseNotFound. */
  async countTokens(by: Caller | null, input: ResponseRequest): Promise<number> {
    const caller = authorize(by, permissions.chat);
    const { request } = await this.prepare(caller, { ...input, store: false });
    return this.chats.countTokens(caller, { model: input.model, request, signal: input.signal });
  }

  /** Throws NotFound. */
  async require(by: Caller | null, { id }: { readonly id: string }): Promise<void> {
    found('response', await this.responses.head(keyOf(authorize(by, permissions.chat), id)));
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { id, memory }: OfResponse): Promise<Response> {
    const key = keyOf(authorize(by, permissions.chat), id);
    const { bytes } = found('response', await this.responses.head(key));
    await memory.reserve(bytes);
    return found('response', await this.responses.find(key));
  }

  /** Returns the steps of a response in the background from its beginning. Throws NotFound, InvalidRequest. */
  async follow(by: Caller | null, input: OfResponse & { signal: AbortSignal }): Promise<ResponseStream> {
    const response = await this.read(by, input);
    input.memory.keep(null);
    if (!response.background) {
      const message = 'is only for responses in the background: this one was answered to the call that created it';
      throw new InvalidRequest([{ path: 'stream', message }]);
    }
    return this.followed(response, input);
  }

  /** Returns those of the caller's responses with these ids that exist. Throws InvalidRequest if they are too many. */
  async named(by: Caller | null, input: { readonly ids: readonly string[] } & WithMemory): Promise<Response[]> {
    const caller = authorize(by, permissions.chat);
    return this.earlier.named(caller.accountId, { ...input, projects: KeyScope.projectsOf(caller) });
  }

  /** Deletes a response. One that runs in the background ends. Throws NotFound. */
  async delete(by: Caller | null, { id }: { readonly id: string }): Promise<void> {
    const key = keyOf(authorize(by, permissions.chat), id);
    found('response', (await this.responses.remove(key)) || null);
  }

  /**
   * Ends a response in the background with the items that it has so far. One that has ended stays as it is. Throws
   * NotFound, InvalidRequest.
   */
  async cancel(by: Caller | null, input: OfResponse): Promise<Response> {
    const key = keyOf(authorize(by, permissions.chat), input.id);
    const head = found('response', await this.responses.head(key));
    if (!head.background)
      throw new InvalidRequest([{ path: 'response_id', message: 'names a response that is not in the background' }]);
    if (Response.isOpen(head)) {
      await input.memory.reserve(head.bytes); // not in the transaction, because it may wait
      await this.unitOfWork.run(async () => {
        if (!(await this.responses.cancel(key, this.clock.now()))) return;
        await this.responses.replaceOutput(key, await this.reader.outputSoFar(key.id));
      });
    }
    return this.read(by, input);
  }

  /** Follows a response in the background for as long as it may take from its first attempt to its end. */
  private followed(response: Response, { memory, signal }: WithMemory & { signal: AbortSignal }): ResponseStream {
    const longestMs = RESPONSE_WAIT_MS + this.settings.inferenceTimeoutMs;
    const until = this.clock.now().getTime() + longestMs;
    const expired = AbortSignal.timeout(longestMs + LAST_READ_MS);
    return { response, modelId: () => null, steps: this.reader.steps(response, { memory, signal, until }), expired };
  }

  /** Returns the response with its answer, after it is stored if the caller wants that. */
  private async ended(
    caller: AccountCaller,
    { store, signal }: ResponseRequest,
    draft: Response,
    answer: AnswerAssembly,
    end: CompletionEnd,
  ): Promise<Response> {
    const isWhole = end.finishReason !== 'length';
    for (const _ of answer.end(isWhole));
    const response: Response = { ...draft, ...endOf(answer, end), finishedAt: this.clock.now() };
    signal.throwIfAborted();
    if (store) await this.store(caller, response, () => this.responses.add(response, null));
    return response;
  }

  private async enqueue(caller: AccountCaller, input: ResponseRequest): Promise<Response> {
    const { projectId, runtime } = await this.reconciler.stateForTeam(caller, input);
    if (runtime.state === 'not_connected') throw new RuntimeNotConnected();
    if (runtime.state === 'stopped') throw new RuntimeStopped();
    const { request, draft } = await this.prepare(caller, input);
    const response: Response = { ...draft, projectId, status: 'queued' };
    const { id, accountId } = response;
    const keyId = caller.kind === 'api_key' ? caller.credentialId : null;
    const queueName = `${RESPONSE} ${accountId} ${Number.parseInt(id.slice(-4), 16) % AT_ONCE_PER_ACCOUNT}`;
    const task = { accountId, projectId, request, keyId };
    await this.store(caller, { ...response, task: request }, async () => {
      await this.responses.add(response, task);
      const rules = { key: id, queueName, maxAttempts: RESPONSE_ATTEMPTS };
      await this.queue.enqueue(RESPONSE, { response_id: id }, rules);
    });
    input.memory.lower(0); // the whole request is stored
    return response;
  }

  private async store(caller: AccountCaller, what: object, write: () => Promise<void>): Promise<void> {
    await this.quotas.add(caller, { responseBytes: textBytes(JSON.stringify(what)) }, write);
  }

  /** Makes the checks that need the database, and returns the whole request. Reserves memory for what it has read. */
  private async prepare(
    caller: AccountCaller,
    input: ResponseRequest,
  ): Promise<{ request: ChatRequest; draft: Response }> {
    const { request, instructions, previousId, store, background, repeated } = input;
    const { accountId } = caller;
    if (previousId !== null && !background) await this.reconciler.stateForTeam(caller, input);
    const earlier = previousId === null ? [] : await this.earlier.before(keyOf(caller, previousId), input);
    // A response in the background is stored at once, and then its room is checked.
    if (store && !background) await this.quotas.requireAnyRoom(caller, 'responseBytes');
    const system: RequestMessage[] = instructions === null ? [] : [{ role: 'system', content: instructions }];
    const messages = [...system, ...earlier, ...request.messages];
    if (background) requireStorable([messages, repeated], 'background');
    else if (store) requireStorable([request.messages, repeated], 'store');
    const draft: Response = {
      ...{
        id: this.ids.next('resp'),
        accountId,
        projectId: '',
        status: 'in_progress',
        background,
        previousId,
        repeated,
      },
      ...{ messages: request.messages, output: [], usage: null, failure: null },
      ...{ createdAt: this.clock.now(), finishedAt: null },
    };
    return { request: { ...request, messages }, draft };
  }
}

const keyOf = (caller: AccountCaller, id: string): ResponseKey => ({
  ...{ id, accountId: caller.accountId, projects: KeyScope.projectsOf(caller) },
});

/** Returns the end of an answer that has items. An answer that reached its greatest length is incomplete. */
export const endOf = (answer: AnswerAssembly, { finishReason, usage }: CompletionEnd): ResponseEnd => ({
  status: finishReason === 'length' ? 'incomplete' : 'completed',
  output: answer.items,
  usage,
  failure: null,
});

/** Throws InvalidRequest, which names the field that asks for the storage. */
function requireStorable(stored: readonly unknown[], field: 'store' | 'background'): void {
  const { storedLength } = responseLimits;
  if (JSON.stringify(stored).length <= storedLength) return;
  const message = `must be false for a request with more than ${storedLength} characters of messages, instructions and tools`;
  throw new InvalidRequest([{ path: field, message }]);
}
