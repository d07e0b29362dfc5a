/** The runtime of a project on an engine that runs elsewhere and speaks HTTP. */
import { isDeepStrictEqual } from 'node:util';
import type { ChatRuntime, CountCall, RuntimeCall } from '../../application/chat/ports.js';
import type { Clock, JsonSchemas, Logger, Tracer } from '../../application/shared/ports.js';
import type { ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import {
  InferenceTimeout,
  RuntimeLoading,
  RuntimeStopped,
  RuntimeUnavailable,
  WrongTask,
} from '../../domain/chat/errors.js';
import { requireSupported } from '../../domain/chat/request-field.js';
import type { RuntimeFigures, RuntimeStatus, RuntimeTask } from '../../domain/chat/runtime.js';
import { estimatedTokens, mostPromptTokens, mostTextTokens } from '../../domain/chat/token-estimate.js';
import { FairQueue, WaitEstimate } from '../chat-runtimes/fair-queue.js';
import { RuntimeMeter } from '../chat-runtimes/runtime-meter.js';
import { type RestartDelayBounds, RestartDelays } from '../system/scheduling.js';
import type { AnswerReader } from './answer-reader.js';
import { type CallCost, costOf, costOfTexts } from './call-cost.js';
import { EngineConnection, NOT_READY, type Reading } from './engine-connection.js';
import type { EngineDialect } from './engine-dialect.js';
import { EngineLost } from './engine-refusals.js';
import type { HttpSource } from './engine-spec.js';
import { PartPipe } from './part-pipe.js';
import { type Counted, receive } from './received-answer.js';

/** A call costs at most this multiple of its estimate, whatever an engine reports. */
const MOST_OF_ESTIMATE = 4;

export interface EngineSettings {
  /** Calls that one engine answers at once. Default: 32. */
  readonly maxConcurrent: number;
  /** Calls that may wait while others are answered. */
  readonly queue: number;
  /** The most time that a call may wait and run, in total. */
  readonly timeoutMs: number;
  /** The most time until the answer to a probe. Default: 10 s. */
  readonly probeTimeoutMs: number;
  /** An engine that answers that it is not ready yet counts as loading for this time. Default: 120 s. */
  readonly loadTimeoutMs: number;
  /** Checks answers with a strict format. */
  readonly schemas: JsonSchemas;
  readonly answers: AnswerReader;
  /** Makes a span of each call to the engine, and the headers of its trace. Default: none. */
  readonly tracer?: Tracer;
  /** The time between two probes of an engine that can't be used. Default: 0.5 s, up to 30 s. */
  readonly retryDelayMs: RestartDelayBounds;
}

type Call = RuntimeCall & CallCost;

/** The use of one source, from a start of the runtime to the next start or stop. */
interface Session<Model> {
  readonly source: HttpSource<Model>;
  readonly connection: EngineConnection<Model>;
  readonly end: AbortController;
  /** Calls that wait or run. A call is aborted with the error for its caller. */
  readonly calls: Set<AbortController>;
  checking: boolean;
}

type Work<Model, T> = (connection: EngineConnection<Model>, reading: Reading) => Promise<Counted<T>>;

export class HttpChatRuntime<Model> implements ChatRuntime {
  private session: Session<Model> | null = null;
  private state: Omit<RuntimeStatus, 'task'> = { state: 'stopped', reason: null };
  private readonly estimate = new WaitEstimate();
  private readonly meter = new RuntimeMeter();
  private readonly queue: FairQueue;
  private readonly delays: RestartDelays;
  private retry: NodeJS.Timeout | undefined;
  /** The time since which the engine answers each probe with "not ready", or null. */
  private notReadySince: number | null = null;

  constructor(
    private readonly id: string,
    private readonly dialect: EngineDialect<Model>,
    private readonly settings: EngineSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.queue = new FairQueue(settings.maxConcurrent, settings.queue, this.estimate);
    this.delays = new RestartDelays(settings.retryDelayMs);
  }

  get status(): RuntimeStatus {
    const task = this.session?.source.task;
    return { ...this.state, ...(task && { task }) };
  }

  get figures(): RuntimeFigures {
    return this.meter.figures(this.queue);
  }

  start(source: HttpSource<Model>): void {
    if (this.session && isDeepStrictEqual(this.session.source, source) && this.state.state !== 'unavailable') return;
    this.endSession(new RuntimeLoading());
    const connection = new EngineConnection(source, this.dialect, this.settings, () => this.queue.busy);
    this.session = { source, connection, end: new AbortController(), calls: new Set(), checking: false };
    void this.probe(this.session);
  }

  async stop(): Promise<void> {
    this.endSession(new RuntimeStopped());
    this.state = { state: 'stopped', reason: null };
  }

  async complete(sent: ChatRequest, call: RuntimeCall): Promise<Completion> {
    const request = this.translatable(sent);
    return this.call({ ...costOf(request), ...call }, async (connection, reading) => {
      const answer = await connection.complete(request, reading);
      return { answer, usage: answer.usage, firstTokenMs: null };
    });
  }

  async embed({ verbatim, ...own }: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings> {
    const isVerbatim = verbatim?.dialect === this.dialect.verbatim;
    if (!isVerbatim) verbatim?.requireUnderstood();
    const request = isVerbatim ? { ...own, verbatim } : own;
    return this.call({ ...costOfTexts(request), ...call }, async (connection, reading) => {
      const answer = await connection.embed(request, reading);
      const { promptTokens } = answer;
      const usage = promptTokens === null ? null : { promptTokens, cachedTokens: 0, completionTokens: 0 };
      return { answer, usage, firstTokenMs: null };
    });
  }

  async countTokens(request: ChatRequest, { signal }: CountCall): Promise<number> {
    signal.throwIfAborted();
    const own = this.translatable(request);
    this.readySession('chat');
    return estimatedTokens(own);
  }

  async boundTokens(request: ChatRequest, { signal }: CountCall): Promise<number> {
    signal.throwIfAborted();
    const own = this.translatable(request);
    this.readySession('chat');
    return mostPromptTokens(own);
  }

  async boundTextTokens({ texts }: EmbeddingRequest, { signal }: CountCall): Promise<number> {
    signal.throwIfAborted();
    this.readySession('embedding');
    return mostTextTokens(texts);
  }

  async *stream(request: ChatRequest, runtimeCall: RuntimeCall): AsyncGenerator<CompletionPart> {
    const own = this.translatable(request);
    const parts = new PartPipe<CompletionPart>();
    const left = new AbortController();
    const call = { ...costOf(own), ...runtimeCall, signal: AbortSignal.any([runtimeCall.signal, left.signal]) };
    const last = this.call(call, (to, reading) => receive(to.stream(own, reading), reading.signal, parts));
    last.catch(() => undefined).finally(() => parts.close());
    try {
      yield* parts;
      yield await last;
    } finally {
      left.abort(new Error('the caller takes no more parts'));
    }
  }

  /** Returns the request as the dialect can translate it. Throws what `requireSupported` throws. */
  private translatable(request: ChatRequest): ChatRequest {
    const { verbatim, supported } = this.dialect;
    return request.verbatim?.dialect === verbatim ? request : requireSupported(request, supported);
  }

  /** Stops the use of the source. Rejects all open calls with `reason`. */
  private endSession(reason: Error): void {
    const { session } = this;
    this.session = null;
    clearTimeout(this.retry);
    this.notReadySince = null;
    this.delays.reset();
    session?.end.abort();
    for (const call of session?.calls ?? []) call.abort(reason);
    session?.connection.close();
  }

  /** Runs one call in its turn, with a timeout, and counts it. */
  private async call<T>({ admitted = () => {}, ...given }: Call, work: Work<Model, T>): Promise<T> {
    const { task, tokens, caller, signal, memory } = given;
    const session = this.readySession(task);
    const { timeoutMs } = this.settings;
    const call = new AbortController();
    const leave = () => call.abort(signal.reason);
    const timer = setTimeout(() => call.abort(new InferenceTimeout(timeoutMs / 1_000)), timeoutMs);
    signal.addEventListener('abort', leave);
    session.calls.add(call);
    try {
      const arrived = this.now;
      return await this.queue.run({ caller, tokens }, call.signal, async () => {
        admitted();
        const working = work(session.connection, { caller, signal: call.signal, memory });
        const { answer, usage } = await this.counted(this.now - arrived, working);
        const { promptTokens, completionTokens } = usage ?? { promptTokens: tokens, completionTokens: 0 };
        return [answer, Math.min(promptTokens + completionTokens, MOST_OF_ESTIMATE * tokens)];
      });
    } catch (error) {
      if (error instanceof EngineLost) void this.check(session);
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      session.calls.delete(call);
    }
  }

  /** Throws if the runtime is not ready. Throws WrongTask if its model is for the other task. */
  private readySession(task: RuntimeTask): Session<Model> {
    const { session, state } = this;
    if (!session) throw new RuntimeStopped();
    if (state.state === 'loading') throw new RuntimeLoading();
    if (state.state === 'unavailable') throw new RuntimeUnavailable(String(state.reason));
    const { task: own = task } = session.source;
    if (own !== task) throw new WrongTask(own);
    return session;
  }

  /** Waits for an answer, and counts it. */
  private async counted<T>(waitedMs: number, answered: Promise<Counted<T>>): Promise<Counted<T>> {
    const began = this.now;
    try {
      const counted = await answered;
      const tookMs = this.now - began;
      this.estimate.record(tookMs);
      this.meter.answered({ ...counted, waitedMs, tookMs });
      return counted;
    } catch (error) {
      if (error instanceof InferenceTimeout) this.estimate.record(this.now - began);
      throw error;
    }
  }

  /** Becomes ready if the engine can be used; otherwise tries again later. */
  private async probe(session: Session<Model>): Promise<void> {
    this.state = { state: 'loading', reason: null };
    const problem = await this.problem(session);
    if (this.session !== session) return;
    if (problem !== null) {
      this.lose(session, problem);
      return;
    }
    this.delays.reset();
    this.notReadySince = null;
    this.state = { state: 'ready', reason: null };
    this.log.info('chat runtime ready', { runtime: this.id });
  }

  private problem({ connection, end }: Session<Model>): Promise<string | null> {
    return connection.problem(AbortSignal.any([AbortSignal.timeout(this.settings.probeTimeoutMs), end.signal]));
  }

  /** Probes a ready engine after a call could not reach it. Other calls may still be answered. */
  private async check(session: Session<Model>): Promise<void> {
    if (session.checking || this.session !== session || this.state.state !== 'ready') return;
    session.checking = true;
    const problem = await this.problem(session);
    session.checking = false;
    if (problem !== null) this.lose(session, problem);
  }

  private lose(session: Session<Model>, reason: string): void {
    if (this.session !== session || this.state.state === 'unavailable') return;
    const delay = this.delays.next();
    this.state = this.isLoading(reason) ? { state: 'loading', reason: null } : { state: 'unavailable', reason };
    this.log.warn(`chat runtime ${this.state.state}`, { runtime: this.id, reason, restartInMs: delay });
    this.retry = setTimeout(() => void this.probe(session), delay);
  }

  /**
   * Returns whether the engine counts as loading. A gateway without its engine gives the same answer as a loading
   * engine, so the time for loading is limited.
   */
  private isLoading(problem: string): boolean {
    this.notReadySince = problem === NOT_READY ? (this.notReadySince ?? this.now) : null;
    return this.notReadySince !== null && this.now - this.notReadySince < this.settings.loadTimeoutMs;
  }

  private get now(): number {
    return this.clock.now().getTime();
  }
}
