/** Uses one engine that runs elsewhere and speaks HTTP, from the start of a runtime to its end. */
import type { RuntimeCall } from '../../application/chat/ports.js';
import type { Clock, Logger } from '../../application/shared/ports.js';
import { type ChatRequest, type Completion, type CompletionPart, mostTokens } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import { InferenceTimeout, RuntimeLoading, RuntimeUnavailable, WrongTask } from '../../domain/chat/errors.js';
import type { RuntimeFigures, RuntimeStatus, RuntimeTask } from '../../domain/chat/runtime.js';
import { FairQueue, WaitEstimate } from '../chat-runtimes/fair-queue.js';
import { type Answered, RuntimeMeter } from '../chat-runtimes/runtime-meter.js';
import { RestartDelays, steadyMs } from '../system/scheduling.js';
import { EngineConnection, EngineLost, NOT_READY } from './engine-connection.js';
import type { EngineDialect, EngineSettings, HttpSource } from './engine-dialect.js';

/** Estimates the tokens of a prompt until the engine has counted them. */
const CHARACTERS_PER_TOKEN = 4;

/** A call costs at most this multiple of its estimate, whatever an engine reports. */
const MOST_OF_ESTIMATE = 4;

interface Call extends RuntimeCall {
  readonly task: RuntimeTask;
  /** The estimated tokens of the prompt plus the most tokens of the answer. */
  readonly tokens: number;
}

/** An answer with its figures for the meter. */
interface Counted<T> extends Pick<Answered, 'usage' | 'firstTokenMs' | 'betweenTokensMs'> {
  readonly answer: T;
}

export class RemoteEngine<Model> {
  status: RuntimeStatus = { state: 'loading', reason: null };
  private readonly client: EngineConnection<Model>;
  private readonly estimate = new WaitEstimate();
  private readonly meter = new RuntimeMeter();
  private readonly queue: FairQueue;
  private readonly delays: RestartDelays;
  /** Calls that wait or run. A call is aborted with the error for its caller. */
  private readonly calls = new Set<AbortController>();
  private readonly ending = new AbortController();
  private retry: NodeJS.Timeout | undefined;
  private checking = false;
  /** The time since which the engine answers each probe with "not ready", or null. */
  private notReadySince: number | null = null;

  constructor(
    private readonly id: string,
    readonly source: HttpSource<Model>,
    api: EngineDialect<Model>,
    private readonly settings: EngineSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.queue = new FairQueue(settings.maxConcurrent, settings.queue, this.estimate);
    this.client = new EngineConnection(source, api, settings.schemas, () => this.queue.busy, settings.tracer);
    this.delays = new RestartDelays(settings.retryDelayMs);
    void this.probe();
  }

  /** Stops the use of the engine for good. Rejects all open calls with `reason`. */
  end(reason: Error): void {
    clearTimeout(this.retry);
    this.ending.abort(reason);
    for (const call of this.calls) call.abort(reason);
    this.client.close();
  }

  get figures(): RuntimeFigures {
    return this.meter.figures(this.queue);
  }

  async complete(request: ChatRequest, call: RuntimeCall): Promise<Completion> {
    return this.call({ ...costOf(request), ...call }, async (ending) => {
      const answer = await this.client.complete(request, ending);
      return { answer, usage: answer.usage, firstTokenMs: null };
    });
  }

  async embed(request: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings> {
    return this.call({ ...costOfTexts(request), ...call }, async (ending) => {
      const answer = await this.client.embed(request, ending);
      const { promptTokens } = answer;
      const usage = promptTokens === null ? null : { promptTokens, cachedTokens: 0, completionTokens: 0 };
      return { answer, usage, firstTokenMs: null };
    });
  }

  async *stream(request: ChatRequest, runtimeCall: RuntimeCall): AsyncGenerator<CompletionPart> {
    const parts = new PartPipe<CompletionPart>();
    const left = new AbortController();
    const call = { ...costOf(request), ...runtimeCall, signal: AbortSignal.any([runtimeCall.signal, left.signal]) };
    const last = this.call(call, (ending) => this.receive(request, ending, parts));
    last.catch(() => undefined).finally(() => parts.close());
    try {
      yield* parts;
      yield await last;
    } finally {
      left.abort(new Error('the caller takes no more parts'));
    }
  }

  /** Writes the parts of an answer into the pipe, except the last part, which it returns. */
  private async receive(
    request: ChatRequest,
    ending: AbortSignal,
    parts: PartPipe<CompletionPart>,
  ): Promise<Counted<CompletionPart>> {
    const gaps: number[] = [];
    let since = steadyMs();
    let last: CompletionPart = { text: '' };
    for await (const { part, size } of this.client.stream(request, ending)) {
      if (part.end) last = part;
      else {
        gaps.push(steadyMs() - since);
        await parts.put(part, size);
        since = steadyMs(); // the time of a slow reader is not the engine's time
      }
    }
    ending.throwIfAborted();
    const [firstTokenMs = null, ...betweenTokensMs] = gaps;
    return { answer: last, usage: last.end?.usage ?? null, firstTokenMs, betweenTokensMs };
  }

  /** Runs one call in its turn, with a timeout, and counts it. */
  private async call<T>(
    { task, tokens, caller, signal, admitted = () => {} }: Call,
    work: (ending: AbortSignal) => Promise<Counted<T>>,
  ): Promise<T> {
    const { state, reason } = this.status;
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable') throw new RuntimeUnavailable(String(reason));
    if (this.source.task !== undefined && this.source.task !== task) throw new WrongTask(this.source.task);
    const { timeoutMs } = this.settings;
    const call = new AbortController();
    const leave = () => call.abort(signal.reason);
    const timer = setTimeout(() => call.abort(new InferenceTimeout(timeoutMs / 1_000)), timeoutMs);
    signal.addEventListener('abort', leave);
    this.calls.add(call);
    try {
      const arrived = this.now;
      return await this.queue.run({ caller, tokens }, call.signal, async () => {
        admitted();
        const { answer, usage } = await this.counted(this.now - arrived, work(call.signal));
        const { promptTokens, completionTokens } = usage ?? { promptTokens: tokens, completionTokens: 0 };
        return [answer, Math.min(promptTokens + completionTokens, MOST_OF_ESTIMATE * tokens)];
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      this.calls.delete(call);
    }
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
      if (error instanceof EngineLost) void this.check();
      throw error;
    }
  }

  /** Becomes ready if the engine can be used; otherwise tries again later. */
  private async probe(): Promise<void> {
    this.status = { state: 'loading', reason: null };
    const problem = await this.problem();
    if (this.ending.signal.aborted) return;
    if (problem !== null) {
      this.lose(problem);
      return;
    }
    this.delays.reset();
    this.notReadySince = null;
    this.status = { state: 'ready', reason: null };
    this.log.info('chat runtime ready', { runtime: this.id });
  }

  private problem(): Promise<string | null> {
    return this.client.problem(
      AbortSignal.any([AbortSignal.timeout(this.settings.probeTimeoutMs), this.ending.signal]),
    );
  }

  /** Probes a ready engine after a call could not reach it. Other calls may still be answered. */
  private async check(): Promise<void> {
    if (this.checking || this.status.state !== 'ready') return;
    this.checking = true;
    const problem = await this.problem();
    this.checking = false;
    if (problem !== null) this.lose(problem);
  }

  private lose(reason: string): void {
    if (this.ending.signal.aborted || this.status.state === 'unavailable') return;
    const delay = this.delays.next();
    this.status = this.isLoading(reason) ? { state: 'loading', reason: null } : { state: 'unavailable', reason };
    this.log.warn(`chat runtime ${this.status.state}`, { runtime: this.id, reason, restartInMs: delay });
    this.retry = setTimeout(() => void this.probe(), delay);
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

const costOf = (request: ChatRequest): Pick<Call, 'task' | 'tokens'> => ({
  task: 'chat',
  tokens: mostTokens(request) + lengthOf(request.messages.map(({ content }) => content)) / CHARACTERS_PER_TOKEN,
});

const costOfTexts = ({ texts }: EmbeddingRequest): Pick<Call, 'task' | 'tokens'> => ({
  task: 'embedding',
  tokens: lengthOf(texts) / CHARACTERS_PER_TOKEN,
});

const lengthOf = (texts: readonly string[]): number => texts.reduce((length, text) => length + text.length, 0);

/** The most characters that may wait for the reader before the writer has to wait. */
const ROOM = 1024 * 1024;

/** Passes parts from a writer to a reader. The writer has to wait while too many characters are unread. */
class PartPipe<Part> {
  private readonly waiting: { readonly part: Part; readonly size: number }[] = [];
  private size = 0;
  private closed = false;
  /** Only one side can wait at a time: the reader for a part, or the writer for room. */
  private wake = () => {};

  /** Adds a part. Resolves when there is room for more, or when the pipe is closed. */
  async put(part: Part, size: number): Promise<void> {
    this.waiting.push({ part, size });
    this.size += size;
    this.wake();
    while (this.size > ROOM && !this.closed) await this.change();
  }

  /** Closes the pipe. The reader still gets the parts that wait. The writer no longer has to wait. */
  close(): void {
    this.closed = true;
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Part> {
    for (;;) {
      const next = this.waiting.shift();
      if (next) {
        this.size -= next.size;
        this.wake();
        yield next.part;
      } else if (this.closed) return;
      else await this.change();
    }
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
