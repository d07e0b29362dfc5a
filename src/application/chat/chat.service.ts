import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { KeptIn } from '../../domain/chat/conversation.js';
import { AnswerOutOfFormat, InferenceTimeout, RuntimeInvalidResponse } from '../../domain/chat/errors.js';
import { Attempts } from '../../domain/jobs/attempt.js';
import { Prices } from '../../domain/spend/prices.js';
import { type CallInfo, CallTracker, pricesOf } from '../jobs/call-tracker.js';
import { RecordableChat } from '../record/recordable-chat.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, ServiceSettings } from '../shared/ports.js';
import { BudgetGuard } from '../spend/budget-guard.js';
import { bounded, demandOf } from '../spend/chat-demand.js';
import { EarlyEnd, figuresOf } from '../spend/early-end.js';
import { type InProject, TeamWorkspace } from '../workspace/team-workspace.js';
import { ConversationService, type TurnPlace } from './conversation.service.js';
import { requireReady } from './require-ready.js';
import { type NamedProject, RuntimeReconciler } from './runtime-reconciler.js';
import { TargetCalls } from './target-calls.js';
import { TurnText } from './turn-text.js';

interface Kept {
  /** If null, the chat is not stored. */
  readonly keptIn: KeptIn | null;
}

interface Chat extends Kept, WithMemory {
  readonly request: ChatRequest;
  /** The id in the answer that the caller gets. Null: it has none. */
  readonly answerId: string | null;
  /** Aborts when the caller disconnects or loses the permission. */
  readonly signal: AbortSignal;
}

type Input = NamedProject & Chat;

/** Stores an answer. If it throws, the call has failed. */
interface WholeInput {
  readonly store?: (answer: Completion, projectId: string) => Promise<void>;
}

interface StreamInput {
  /** Gets the last part. */
  readonly store?: (last: LastPart, projectId: string) => Promise<void>;
}

export type LastPart = CompletionPart & Required<Pick<CompletionPart, 'end'>>;

type Counted = NamedProject & Pick<Chat, 'request' | 'signal'>;

type AccountCall = CallInfo & {
  readonly by: AccountCaller;
  readonly projectId: string;
  readonly attempts: Attempts;
  readonly recordable: RecordableChat;
};

interface Turn {
  readonly place: TurnPlace;
  /** The id of the conversation. */
  readonly id: string;
}

interface Answered {
  readonly projectId: string;
  /** The model that has answered. */
  readonly modelId: string | null;
  readonly completion: Completion;
  /** The conversation that has stored the turn, or null. */
  readonly conversationId: string | null;
}

/** An answer during its generation. */
export interface ChatStream {
  readonly projectId: string;
  /** Returns the model that answers. It is known from the first part on. */
  readonly modelId: () => string | null;
  /** The conversation that will store the turn, or null. */
  readonly conversationId: string | null;
  /**
   * Yields the last part after both the turn and the end of the call are stored. If the consumer stops earlier, the
   * call is cancelled and no turn is stored.
   */
  readonly parts: AsyncGenerator<CompletionPart, void>;
  /** Aborts if the time for the answer ends before the consumer asks for the next part. An open call then fails. */
  readonly expired: AbortSignal;
}

/** After an abort, a slow caller has this time to read on and get the error. Then the connection is closed. */
const LAST_READ_MS = 500;

@injectable()
export class ChatService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly conversations: ConversationService,
    private readonly reconciler: RuntimeReconciler,
    private readonly runtimes: TargetCalls,
    private readonly calls: CallTracker,
    private readonly guard: BudgetGuard,
    private readonly clock: Clock,
    private readonly settings: ServiceSettings,
  ) {}

  /**
   * Returns the answer of the project's model, and the id of the conversation that stores the turn, or null. Reads the
   * desired state of the runtime first, so that no instance answers after a stop. Throws what
   * `RuntimeReconciler.stateForCall`, `requireReady`, `ConversationService.storeTurn` and `TargetCalls.complete` throw.
   */
  async complete(by: Caller | null, input: Input & WholeInput): Promise<Answered> {
    const { request, memory } = input;
    const { call, turn } = await this.prepare(by, input);
    const { projectId, attempts, recordable } = call;
    let early = new EarlyEnd(request, attempts);
    const completion = await this.calls.track(
      call,
      async (admitted, { bounds, signal }) => {
        const sent = bounded(request, bounds);
        early = new EarlyEnd(sent, attempts, bounds);
        const caller = call.by.accountId;
        const options = { caller, signal, memory, attempts, made: early.made, admitted };
        return this.runtimes.complete(projectId, sent, options);
      },
      {
        figuresOf: ({ usage }) => early.ofAnswer(usage),
        store: async (answer) => {
          recordable.addWhole(answer);
          await this.store(turn, input, TurnText.of(answer));
          await input.store?.(answer, projectId);
        },
        ifFailed: async (error, isEarly) => {
          if (error instanceof AnswerOutOfFormat) recordable.addWhole(error.completion);
          if (error instanceof AnswerOutOfFormat)
            return { ...(await early.ofAnswer(error.completion.usage)), isCharged: true };
          return isEarly ? early.ofWhole() : undefined;
        },
      },
    );
    return { projectId, modelId: attempts.modelId, completion, conversationId: turn?.id ?? null };
  }

  /** Returns the answer in parts. Throws what `complete` throws before the generation. The parts throw later errors. */
  async stream(by: Caller | null, input: Input & StreamInput): Promise<ChatStream> {
    const { call, turn } = await this.prepare(by, input);
    const expired = new AbortController();
    const parts = this.parts(input, call, turn, expired);
    const { projectId, attempts } = call;
    const modelId = () => attempts.answering;
    return { projectId, modelId, conversationId: turn?.id ?? null, parts, expired: expired.signal };
  }

  private async *parts(
    input: Chat & StreamInput,
    about: AccountCall,
    turn: Turn | null,
    expired: AbortController,
  ): ChatStream['parts'] {
    const { request, signal, memory } = input;
    const arrived = this.clock.now().getTime();
    const call = await this.calls.open(about);
    const { projectId, by, attempts, recordable } = about;
    const caller = by.accountId;
    const sent = bounded(request, call.bounds);
    const early = new EarlyEnd(sent, attempts, call.bounds);
    const { deadline } = call;
    const admitted = () => call.admitted(() => isWaiting && void expire());
    const options = { caller, signal: deadline.signal, memory, attempts, made: early.made, admitted };
    const source = this.runtimes.stream(projectId, sent, options);
    const iterator = source[Symbol.asyncIterator]();
    const text = new TurnText();
    let firstToken: number | null = null;
    let isOpen = true;
    let isWaiting = false; // for the consumer
    const timeoutMs = this.settings.inferenceTimeoutMs;
    let timer: NodeJS.Timeout | undefined;
    const isCounted = () => pricesOf(about) !== null || call.bounds !== null;
    const madeSoFar = async () => (isCounted() ? early.ofStream(firstToken) : figuresOf(null, firstToken));
    const fail = async (error: unknown) => call.failed(error, await madeSoFar());
    const stop = (error: unknown) => void fail(error).catch(() => {});
    const expire = async () => {
      await iterator.return?.().catch(() => undefined); // the runtime then reports the tokens that it has made
      stop(deadline.signal.aborted ? deadline.signal.reason : new InferenceTimeout(timeoutMs / 1_000));
      expired.abort();
    };
    const abort = () => {
      if (!isOpen) return;
      stop(signal.reason);
      clearTimeout(timer);
      timer = setTimeout(() => expired.abort(), LAST_READ_MS);
    };
    signal.addEventListener('abort', abort);
    try {
      for (;;) {
        const { done, value: part } = await iterator.next();
        signal.throwIfAborted();
        if (done) throw new RuntimeInvalidResponse('its answer has no end.');
        firstToken ??= Math.max(0, this.clock.now().getTime() - arrived) / 1_000;
        early.add(part);
        recordable.add(part);
        if (turn && !part.choice) text.add(part); // a conversation keeps the first answer
        const { end } = part;
        if (end) {
          isOpen = false;
          deadline.end();
          const isReported = end.usage !== null || call.bounds === null;
          await call.succeeded(isReported ? figuresOf(end.usage, firstToken) : await madeSoFar(), async () => {
            await this.store(turn, input, text.joined);
            await input.store?.({ ...part, end }, projectId);
          });
        }
        // The runtime reports its timeout only when it is asked for a part. A slow consumer does not ask.
        timer = setTimeout(() => void expire(), Math.max(1, arrived + timeoutMs - this.clock.now().getTime()));
        isWaiting = true;
        yield part;
        isWaiting = false;
        clearTimeout(timer);
        if (part.end) return;
      }
    } catch (error) {
      clearTimeout(timer);
      if (isOpen) await fail(error);
      isOpen = false;
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      clearTimeout(timer);
      deadline.end();
      await iterator.return?.();
      if (isOpen) await call.cancelled(await madeSoFar());
    }
  }

  /** Makes all checks that are possible before the generation. */
  private async prepare(
    by: Caller | null,
    { keptIn, signal, request, answerId, memory: _, ...named }: Input,
  ): Promise<{ call: AccountCall; turn: Turn | null }> {
    const caller = authorize(by, permissions.chat);
    const { projectId, runtime, prices, hasBudgets, recording } = await this.reconciler.stateForCall(caller, named);
    const place = keptIn === null ? null : { caller, projectId, keptIn };
    const turn = place && { place, id: await this.conversations.prepareTurn(place, request) };
    requireReady(runtime);
    const { modelId } = runtime;
    const attempts = new Attempts(() => this.clock.now().getTime());
    const demand = async () => {
      const promptTokens = await this.runtimes.boundTokens(projectId, request, { caller: caller.accountId, signal });
      const dearest = Prices.dearest([...prices.values()]);
      return demandOf(request, { promptTokens, prices: dearest, mostMs: this.settings.inferenceTimeoutMs });
    };
    const take = (callId: string, at: Date) => this.guard.take({ by: caller, callId, at, projectId, demand });
    const guard = hasBudgets ? take : null;
    const recordable = new RecordableChat(recording, answerId, request);
    const about = { by: caller, kind: 'chat', name: null, projectId, modelId, attempts, guard, signal } as const;
    return { call: { ...about, recordable, pricesOf: (answered) => prices.get(answered ?? '') ?? null }, turn };
  }

  private async store(turn: Turn | null, { request, signal }: Chat, text: string): Promise<void> {
    if (!turn) return;
    signal.throwIfAborted();
    await this.conversations.storeTurn(turn.place, turn.id, request, text);
  }

  /**
   * Returns the number of tokens of the request's prompt, as `TargetCalls.countTokens` counts them. Creates no job.
   * Throws what `RuntimeReconciler.stateForTeam`, `requireReady` and `TargetCalls.countTokens` throw.
   */
  async countTokens(by: Caller | null, { request, signal, ...named }: Counted): Promise<number> {
    const caller = authorize(by, permissions.chat);
    const { projectId, runtime } = await this.reconciler.stateForTeam(caller, named);
    requireReady(runtime);
    return this.runtimes.countTokens(projectId, request, { caller: caller.accountId, signal });
  }

  /** Throws NotFound when the project or the conversation does not exist for the caller. */
  async requirePlace(by: Caller | null, { projectId, keptIn }: InProject & Kept): Promise<void> {
    const caller = authorize(by, permissions.chat);
    if (keptIn === null || keptIn === 'new') await this.workspace.project(caller, projectId);
    else await this.conversations.requireConversation(by, { projectId, id: keptIn });
  }
}
