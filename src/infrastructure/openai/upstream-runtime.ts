import type { Clock, Logger } from '../../application/shared/ports.js';
import { type ChatRequest, type Completion, mostTokens } from '../../domain/chat/chat.js';
import {
  ContextLengthExceeded,
  InferenceTimeout,
  RuntimeInvalidResponse,
  RuntimeLoading,
  RuntimeUnavailable,
} from '../../domain/chat/errors.js';
import type { OpenAiSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../domain/chat/runtime-figures.js';
import { CallEnd, type EndSignal } from '../runtimes/call-end.js';
import { FairQueue } from '../runtimes/fair-queue.js';
import type { RestartDelays } from '../runtimes/restart-delays.js';
import { RuntimeMeter } from '../runtimes/runtime-meter.js';
import { Turns } from '../runtimes/turns.js';
import { WaitingTime } from '../runtimes/waiting-time.js';
import { completionOf, KEY_REFUSED, refusalOf } from './engine-answer.js';
import { type EngineAnswer, EngineClient, EngineGone, UnreadableAnswer } from './engine-client.js';

export interface UpstreamSettings {
  /** Calls that an engine works on at once. */
  readonly atOnce: number;
  /** Calls that may wait while others are answered. */
  readonly queue: number;
  /** For an answer, waiting included. */
  readonly timeoutMs: number;
  /** For the answer to the question whether there is an engine. */
  readonly probeTimeoutMs: number;
  /** For loading its weights, as long as it answers that it is not ready yet. */
  readonly loadTimeoutMs: number;
}

/** A rough figure, until the engine has counted. */
const CHARACTERS_PER_TOKEN = 4;

/** One engine, from the start of a runtime to its end. */
export class UpstreamRuntime {
  status: RuntimeStatus = { state: 'loading', reason: null };
  private readonly client: EngineClient;
  private readonly waitingTime = new WaitingTime();
  private readonly meter = new RuntimeMeter();
  private readonly queue: FairQueue;
  private readonly turns: Turns;
  /** Those under way, to be aborted with what their callers shall hear. */
  private readonly calls = new Set<CallEnd>();
  private readonly ending = new AbortController();
  private retry: NodeJS.Timeout | undefined;
  private doubting = false;
  /** Since when the engine has said nothing but that. */
  private notReadySince: number | null = null;

  constructor(
    private readonly id: string,
    readonly source: OpenAiSource,
    private readonly settings: UpstreamSettings,
    private readonly delays: RestartDelays,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.client = new EngineClient(source, clock);
    this.queue = new FairQueue(settings.atOnce, settings.queue, this.waitingTime);
    this.turns = new Turns(this.queue);
    void this.probe();
  }

  /** For good; `reason` is what callers under way hear. */
  end(reason: Error): void {
    clearTimeout(this.retry);
    this.ending.abort(reason);
    this.failAll(reason);
    this.client.close();
  }

  get figures(): RuntimeFigures {
    return this.meter.figures(this.queue);
  }

  async complete(request: ChatRequest, caller: string, signal: AbortSignal, admitted = () => {}): Promise<Completion> {
    const { state, reason } = this.status;
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable') throw new RuntimeUnavailable(String(reason));
    const call = new CallEnd();
    const leave = () => call.abort(signal.reason);
    const { timeoutMs } = this.settings;
    const timer = setTimeout(() => call.abort(new InferenceTimeout(timeoutMs / 1_000)), timeoutMs);
    signal.addEventListener('abort', leave);
    this.calls.add(call);
    try {
      const tokens = mostTokens(request) + lengthOf(request) / CHARACTERS_PER_TOKEN;
      const arrived = this.now;
      return await this.turns.take({ caller, tokens }, call, async () => {
        admitted();
        const waitedMs = this.now - arrived;
        const completion = await this.ask(request, call, waitedMs);
        const { promptTokens, completionTokens } = completion.usage ?? { promptTokens: tokens, completionTokens: 0 };
        // An engine's word is taken for the price only so far.
        return [completion, Math.min(promptTokens + completionTokens, MOST_OF_ESTIMATE * tokens)];
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      this.calls.delete(call);
    }
  }

  private async ask(request: ChatRequest, signal: EndSignal, waitedMs: number): Promise<Completion> {
    const begun = this.now;
    try {
      const answer = await this.post(request, signal);
      if (answer.status === 200) {
        const completion = completionOf(answer.text, this.source);
        const tookMs = this.now - begun;
        this.waitingTime.record(tookMs);
        this.meter.answered({ usage: completion.usage, waitedMs, firstTokenMs: null, tookMs });
        return completion;
      }
      if (answer.status === 401 || answer.status === 403) void this.doubt();
      throw refusalOf(answer, this.queue.busy.advice.retryAfterSeconds ?? 1);
    } catch (error) {
      if (error instanceof EngineGone) {
        void this.doubt();
        throw new RuntimeUnavailable(error.message);
      }
      if (error instanceof InferenceTimeout) this.waitingTime.record(this.now - begun);
      throw error instanceof UnreadableAnswer ? new RuntimeInvalidResponse(error.message) : error;
    }
  }

  /** Where nobody says how long the answer may be and 512 tokens are too many, the engine gives what is left. */
  private async post(request: ChatRequest, signal: EndSignal): Promise<EngineAnswer> {
    const { messages, temperature, maxTokens } = request;
    const body = { model: this.source.model, messages, temperature, stream: false };
    const answer = await this.client.post(PATH, { ...body, max_tokens: mostTokens(request) }, signal);
    const retry = maxTokens === null && answer.status !== 200 && refusalOf(answer, 1) instanceof ContextLengthExceeded;
    return retry ? this.client.post(PATH, body, signal) : answer;
  }

  /** Finds out whether there is an engine, again and again until there is one. */
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

  /** Why the engine can't be used; null for one that answers. Not every engine has a list of models. */
  private async problem(): Promise<string | null> {
    const signal = AbortSignal.any([AbortSignal.timeout(this.settings.probeTimeoutMs), this.ending.signal]);
    try {
      const { status } = await this.client.get('/models', signal);
      if (status === 401 || status === 403) return KEY_REFUSED;
      if (status === 503) return NOT_READY;
      const there = (status >= 200 && status < 300) || status === 404 || status === 405;
      return there ? null : `the engine answers with status ${status}`;
    } catch (error) {
      if (error instanceof EngineGone) return error.message;
      return error instanceof UnreadableAnswer ? null : 'the engine does not answer';
    }
  }

  /** One call has lost the engine. Whether it is gone for all is for the engine to say: others may be answered still. */
  private async doubt(): Promise<void> {
    if (this.doubting || this.status.state !== 'ready') return;
    this.doubting = true;
    const problem = await this.problem();
    this.doubting = false;
    if (problem !== null) this.lose(problem);
  }

  /** The engine can't be used for now. */
  private lose(reason: string): void {
    if (this.ending.signal.aborted || this.status.state === 'unavailable') return;
    const delay = this.delays.next();
    this.status = this.isLoading(reason) ? { state: 'loading', reason: null } : { state: 'unavailable', reason };
    this.log.warn(`chat runtime ${this.status.state}`, { runtime: this.id, reason, restartInMs: delay });
    this.retry = setTimeout(() => void this.probe(), delay);
  }

  /** A gateway that has lost its engine says the same as an engine that loads: it is believed for a time. */
  private isLoading(problem: string): boolean {
    this.notReadySince = problem === NOT_READY ? (this.notReadySince ?? this.now) : null;
    return this.notReadySince !== null && this.now - this.notReadySince < this.settings.loadTimeoutMs;
  }

  private get now(): number {
    return this.clock.now().getTime();
  }

  private failAll(reason: Error): void {
    for (const call of this.calls) call.abort(reason);
  }
}

const PATH = '/chat/completions';

/** What llama.cpp and others answer while they load their weights. */
const NOT_READY = 'the engine answers that it is not ready yet (status 503)';

/** What a call costs at most, as a multiple of what it was thought to. */
const MOST_OF_ESTIMATE = 4;

const lengthOf = ({ messages }: ChatRequest): number =>
  messages.reduce((length, { content }) => length + content.length, 0);
