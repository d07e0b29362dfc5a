import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { AnswerAssembly, type AnswerStep } from '../../domain/chat/answer-assembly.js';
import type { ChatRequest, CompletionEnd, RequestMessage } from '../../domain/chat/chat.js';
import { RuntimeNotConnected, RuntimeStopped } from '../../domain/chat/errors.js';
import { PreviousResponseNotFound, Response, type ResponseEnd, responseLimits } from '../../domain/chat/response.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { textBytes } from '../../domain/shared/storage-quota.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, UnitOfWork, WorkQueue } from '../shared/ports.js';
import { found } from '../workspace/team-workspace.js';
import { ChatService } from './chat.service.js';
import { ResponseRepository } from './ports.js';
import { ResponseReader, type ResponseStep } from './response-reader.js';
import { RuntimeReconciler } from './runtime-reconciler.js';

/** Names the task. The payload of the task has the id of the response. */
export const RESPONSE = 'response';

/** The responses of an account that run at the same time in the background. */
const AT_ONCE_PER_ACCOUNT = 4;

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

/** A response while its answer is made. */
export interface ResponseStream {
  /** The response as it begins. */
  readonly response: Response;
  readonly steps: AsyncGenerator<ResponseStep, void>;
  /** Aborts if the time for the answer is over before the consumer asks for the next step. */
  readonly expired: AbortSignal;
}

const NEVER = new AbortController().signal;

/** Answers requests, stores the responses and continues them. Those of other accounts are NotFound, also for an admin. */
@injectable()
export class ResponseService {
  constructor(
    private readonly chats: ChatService,
    private readonly responses: ResponseRepository,
    private readonly reader: ResponseReader,
    private readonly reconciler: RuntimeReconciler,
    private readonly quotas: StorageQuotas,
    private readonly queue: WorkQueue,
    private readonly unitOfWork: UnitOfWork,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the response with its answer. A response in the background is only queued. Throws what `ChatService.complete`
   * throws, and also PreviousResponseNotFound, QuotaExceeded.
   */
  async create(by: Caller | null, input: ResponseRequest): Promise<Response> {
    const caller = authorize(by, permissions.chat);
    if (input.background) return this.enqueue(caller, input);
    const { request, draft } = await this.prepare(caller, input);
    const { model, signal, memory } = input;
    const answered = await this.chats.complete(caller, { model, keptIn: null, request, signal, memory });
    const answer = new AnswerAssembly();
    for (const _ of answer.addWhole(answered.completion));
    return this.ended(caller, input, { ...draft, projectId: answered.projectId }, answer, answered.completion);
  }

  /** Returns the response while its answer is made. Throws what `create` throws before the generation. */
  async stream(by: Caller | null, input: ResponseRequest): Promise<ResponseStream> {
    const caller = authorize(by, permissions.chat);
    if (input.background) {
      const response = await this.enqueue(caller, input);
      return { response, steps: this.reader.steps(response, input), expired: NEVER };
    }
    const { request, draft } = await this.prepare(caller, input);
    const { model, signal, memory } = input;
    const chat = await this.chats.stream(caller, { model, keptIn: null, request, signal, memory });
    const response = { ...draft, projectId: chat.projectId };
    return { response, steps: this.steps(caller, input, response, chat.parts), expired: chat.expired };
  }

  /** Returns the tokens of the whole prompt. Throws what `ChatService.countTokens` throws, and PreviousResponseNotFound. */
  async countTokens(by: Caller | null, input: ResponseRequest): Promise<number> {
    const caller = authorize(by, permissions.chat);
    const { request } = await this.prepare(caller, { ...input, store: false });
    return this.chats.countTokens(caller, { model: input.model, request, signal: input.signal });
  }

  /** Throws NotFound. */
  async require(by: Caller | null, { id }: { readonly id: string }): Promise<void> {
    const { accountId } = authorize(by, permissions.chat);
    found('response', await this.responses.head({ id, accountId }));
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { id, memory }: OfResponse): Promise<Response> {
    const { accountId } = authorize(by, permissions.chat);
    const { bytes } = found('response', await this.responses.head({ id, accountId }));
    await memory.reserve(bytes);
    return found('response', await this.responses.find({ id, accountId }));
  }

  /** Returns the steps of a response in the background from its beginning. Throws NotFound, InvalidRequest. */
  async follow(by: Caller | null, input: OfResponse & { signal: AbortSignal }): Promise<ResponseStream> {
    const response = await this.read(by, input);
    if (!response.background) {
      const message = 'is only for responses in the background: this one was answered to the call that created it';
      throw new InvalidRequest([{ path: 'stream', message }]);
    }
    return { response, steps: this.reader.steps(response, input), expired: NEVER };
  }

  /** Returns those of the caller's responses with these ids that exist. Throws InvalidRequest if they are too many. */
  async named(
    by: Caller | null,
    { ids, memory }: { readonly ids: readonly string[] } & WithMemory,
  ): Promise<Response[]> {
    const { accountId } = authorize(by, permissions.chat);
    const { earlier, earlierBytes } = responseLimits;
    const refuse = (what: string) => new InvalidRequest([{ path: 'input', message: `refers to more than ${what}` }]);
    if (ids.length > earlier) throw refuse(`${earlier} responses`);
    const sizes = await this.responses.sizes(accountId, ids);
    if (sizes.reduce((sum, bytes) => sum + bytes, 0) > earlierBytes) throw refuse(`${earlierBytes} bytes of responses`);
    await memory.reserve(...sizes);
    return this.responses.ofIds(accountId, ids);
  }

  /** Deletes a response. One that runs in the background ends. Throws NotFound. */
  async delete(by: Caller | null, { id }: { readonly id: string }): Promise<void> {
    const { accountId } = authorize(by, permissions.chat);
    found('response', (await this.responses.remove({ id, accountId })) || null);
  }

  /**
   * Ends a response in the background with the items that it has so far. One that has ended stays as it is. Throws
   * NotFound, InvalidRequest.
   */
  async cancel(by: Caller | null, input: OfResponse): Promise<Response> {
    const response = await this.read(by, input);
    if (!response.background)
      throw new InvalidRequest([{ path: 'response_id', message: 'names a response that is not in the background' }]);
    if (!Response.isOpen(response)) return response;
    await this.unitOfWork.run(async () => {
      if (!(await this.responses.cancel(response, this.clock.now()))) return;
      await this.responses.replaceOutput(response, await this.reader.outputSoFar(response, input.memory));
    });
    return this.read(by, input);
  }

  private async *steps(
    caller: AccountCaller,
    input: ResponseRequest,
    response: Response,
    parts: Awaited<ReturnType<ChatService['stream']>>['parts'],
  ): AsyncGenerator<ResponseStep, void> {
    const answer = new AnswerAssembly();
    let isFirst = true;
    for await (const part of parts) {
      if (isFirst) yield { step: 'running' };
      isFirst = false;
      yield* answer.add(part);
      if (!part.end && !answer.isFull) continue;
      const end = part.end ?? { finishReason: 'length', usage: null };
      const last: AnswerStep[] = [...answer.end(end.finishReason !== 'length')];
      yield* last;
      yield { step: 'finished', response: await this.ended(caller, input, response, answer, end) };
      return;
    }
  }

  /** Returns the response with its answer, after it is stored if the caller wants that. */
  private async ended(
    caller: AccountCaller,
    { store }: ResponseRequest,
    draft: Response,
    answer: AnswerAssembly,
    end: CompletionEnd,
  ): Promise<Response> {
    const isWhole = end.finishReason !== 'length';
    for (const _ of answer.end(isWhole));
    const response: Response = { ...draft, ...endOf(answer, end), finishedAt: this.clock.now() };
    if (store) await this.store(caller, response, () => this.responses.add(response, null));
    return response;
  }

  private async enqueue(caller: AccountCaller, input: ResponseRequest): Promise<Response> {
    const { projectId, runtime } = await this.reconciler.stateForTeam(caller.teamId, input);
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
      await this.queue.enqueue(RESPONSE, { response_id: id }, { key: id, queueName });
    });
    return response;
  }

  private async store(caller: AccountCaller, what: object, write: () => Promise<void>): Promise<void> {
    await this.quotas.add(caller, { responseBytes: textBytes(JSON.stringify(what)) }, write);
  }

  /** Makes the checks that need the database, and returns the whole request. */
  private async prepare(
    caller: AccountCaller,
    input: ResponseRequest,
  ): Promise<{ request: ChatRequest; draft: Response }> {
    const { request, instructions, previousId, store, background, repeated } = input;
    const { accountId, teamId } = caller;
    if (previousId !== null && !background) await this.reconciler.stateForTeam(teamId, input);
    const earlier = previousId === null ? [] : await this.earlier(previousId, accountId, input);
    if (store) await this.quotas.requireAnyRoom(caller, 'responseBytes');
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

  /** Returns the messages and answers of the responses before. Throws PreviousResponseNotFound, InvalidRequest. */
  private async earlier(id: string, accountId: string, { memory }: WithMemory): Promise<RequestMessage[]> {
    const { earlier, earlierBytes } = responseLimits;
    const line = await this.responses.lineage({ id, accountId }, earlier);
    const refuse = (message: string) => new InvalidRequest([{ path: 'previous_response_id', message }]);
    const [oldest] = line;
    if (line.length < earlier && (!oldest || oldest.previousId !== null)) throw new PreviousResponseNotFound(id);
    const bytes = line.reduce((sum, one) => sum + one.bytes, 0);
    if (line.length >= earlier || bytes > earlierBytes)
      throw refuse(`continues more than ${earlier} responses or ${earlierBytes} bytes: begin anew with a summary`);
    if (line.some(Response.isOpen)) throw refuse('names a response that has not ended: wait for its end');
    await memory.reserve(bytes);
    const stored = await this.responses.ofIds(
      accountId,
      line.map((one) => one.id),
    );
    const byId = new Map(stored.map((one) => [one.id, one]));
    return line.flatMap((one) => {
      const response = byId.get(one.id);
      if (!response) throw new PreviousResponseNotFound(id);
      return [...response.messages, ...Response.messageOf(response.output)];
    });
  }
}

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
