/** One engine that runs elsewhere and speaks HTTP, from the start of a runtime to its end. */
import type { z } from 'zod';
import type { Clock, Logger } from '../../application/shared/ports.js';
import { type ChatRequest, type Completion, mostTokens } from '../../domain/chat/chat.js';
import {
  ContextLengthExceeded,
  InferenceTimeout,
  ModelBusy,
  RuntimeInvalidResponse,
  RuntimeLoading,
  RuntimeUnavailable,
} from '../../domain/chat/errors.js';
import type { RuntimeFigures, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { DomainError } from '../../domain/shared/errors.js';
import { ConnectionFailed, type HttpAnswer, HttpClient, InvalidAnswer } from '../http-client/http-client.js';
import { RestartDelays } from '../system/scheduling.js';
import type { EngineApi, EngineSettings, HttpSource } from './engine-api.js';
import { FairQueue, WaitEstimate } from './fair-queue.js';
import { RuntimeMeter } from './runtime-meter.js';

/** A rough figure, until the engine has counted. */
const CHARACTERS_PER_TOKEN = 4;

/** A call costs at most this multiple of its estimate, whatever an engine reports. */
const MOST_OF_ESTIMATE = 4;

const KEY_REFUSED = 'the engine refused the key';
/** llama.cpp and others answer so while they load their weights. */
const NOT_READY = 'the engine answers that it is not ready yet (status 503)';

export class RemoteEngine<Model> {
  status: RuntimeStatus = { state: 'loading', reason: null };
  private readonly client: HttpClient;
  private readonly answer: z.ZodType<Completion>;
  private readonly estimate = new WaitEstimate();
  private readonly meter = new RuntimeMeter();
  private readonly queue: FairQueue;
  private readonly delays: RestartDelays;
  /** Calls under way. Each is aborted with the error that its caller gets. */
  private readonly calls = new Set<AbortController>();
  private readonly ending = new AbortController();
  private retry: NodeJS.Timeout | undefined;
  private checking = false;
  /** The time since which the engine has only answered that it is not ready. */
  private notReadySince: number | null = null;

  constructor(
    private readonly id: string,
    readonly source: HttpSource<Model>,
    private readonly api: EngineApi<Model>,
    private readonly settings: EngineSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    const headers = { Accept: 'application/json', ...api.headers(source.key) };
    this.client = new HttpClient(source.baseUrl, headers);
    this.answer = api.answer(source.model);
    this.queue = new FairQueue(settings.maxConcurrent, settings.queue, this.estimate);
    this.delays = new RestartDelays(settings.retryDelayMs);
    void this.probe();
  }

  /** Ends everything for good. Callers under way get `reason`. */
  end(reason: Error): void {
    clearTimeout(this.retry);
    this.ending.abort(reason);
    for (const call of this.calls) call.abort(reason);
    this.client.close();
  }

  get figures(): RuntimeFigures {
    return this.meter.figures(this.queue);
  }

  async complete(request: ChatRequest, caller: string, signal: AbortSignal, admitted = () => {}): Promise<Completion> {
    const { state, reason } = this.status;
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable') throw new RuntimeUnavailable(String(reason));
    const { timeoutMs } = this.settings;
    const call = new AbortController();
    const leave = () => call.abort(signal.reason);
    const timer = setTimeout(() => call.abort(new InferenceTimeout(timeoutMs / 1_000)), timeoutMs);
    signal.addEventListener('abort', leave);
    this.calls.add(call);
    try {
      const tokens = mostTokens(request) + lengthOf(request) / CHARACTERS_PER_TOKEN;
      const arrived = this.now;
      return await this.queue.run({ caller, tokens }, call.signal, async () => {
        admitted();
        const completion = await this.ask(request, call.signal, this.now - arrived);
        const { promptTokens, completionTokens } = completion.usage ?? { promptTokens: tokens, completionTokens: 0 };
        return [completion, Math.min(promptTokens + completionTokens, MOST_OF_ESTIMATE * tokens)];
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      this.calls.delete(call);
    }
  }

  private async ask(request: ChatRequest, signal: AbortSignal, waitedMs: number): Promise<Completion> {
    const began = this.now;
    try {
      const answer = await this.post(request, signal);
      if (answer.status !== 200) throw this.refusal(answer);
      const { data: completion, error } = this.answer.safeParse(jsonOf(answer.text));
      if (error) throw new RuntimeInvalidResponse(error.issues[0]?.message ?? 'it is not a completion.');
      const tookMs = this.now - began;
      this.estimate.record(tookMs);
      this.meter.answered({ usage: completion.usage, waitedMs, firstTokenMs: null, tookMs });
      return completion;
    } catch (error) {
      if (error instanceof InferenceTimeout) this.estimate.record(this.now - began);
      if (error instanceof InvalidAnswer) throw new RuntimeInvalidResponse(error.problem);
      if (!(error instanceof ConnectionFailed)) throw error;
      void this.check();
      throw new RuntimeUnavailable(causeOf(error));
    }
  }

  /** If the caller sets no limit and the usual one is too large for the context, lets the engine choose. */
  private async post(request: ChatRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await this.send({ ...request, maxTokens: mostTokens(request) }, signal);
    return request.maxTokens === null && this.isTooLong(answer) ? this.send(request, signal) : answer;
  }

  private send(request: ChatRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { path, body } = this.api.request(request, this.source.model);
    return this.client.send({ method: 'POST', path, json: body, signal });
  }

  private isTooLong({ status, text }: HttpAnswer): boolean {
    return [400, 404, 413, 422].includes(status) && this.api.contextExceeded.test(text);
  }

  /** Returns the error for the caller of a call that the engine did not answer with 200. */
  private refusal(answer: HttpAnswer): DomainError {
    const { status, headers } = answer;
    const wait = secondsOf(headers['retry-after']);
    if (status === 429) return new ModelBusy(wait ?? this.queue.busy.advice.retryAfterSeconds ?? 1);
    if (status === 503) return wait === null ? new RuntimeUnavailable('the engine says so.') : new RuntimeLoading(wait);
    if (status === 401 || status === 403) {
      void this.check();
      return new RuntimeUnavailable(KEY_REFUSED);
    }
    if (status === 408 || status === 504) return new InferenceTimeout();
    if (this.isTooLong(answer))
      return new ContextLengthExceeded("The prompt, or prompt and max_tokens, is over the model's context.");
    if (status >= 300 && status < 400) return new RuntimeInvalidResponse('it redirects, which is not followed.');
    return new RuntimeInvalidResponse(`its engine answered with status ${status}.`);
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

  /** Returns why the engine can't be used, or null. */
  private async problem(): Promise<string | null> {
    const signal = AbortSignal.any([AbortSignal.timeout(this.settings.probeTimeoutMs), this.ending.signal]);
    try {
      const { status } = await this.client.send({ method: 'GET', path: this.api.probePath, signal });
      if (status === 401 || status === 403) return KEY_REFUSED;
      if (status === 503) return NOT_READY;
      const isThere = (status >= 200 && status < 300) || status === 404 || status === 405;
      return isThere ? null : `the engine answers with status ${status}`;
    } catch (error) {
      if (error instanceof ConnectionFailed) return causeOf(error);
      return error instanceof InvalidAnswer ? null : 'the engine does not answer';
    }
  }

  /** Probes a ready engine after one call lost it. Other calls may still be answered. */
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

  /** A gateway without its engine answers as a loading engine does, so this is believed for a limited time. */
  private isLoading(problem: string): boolean {
    this.notReadySince = problem === NOT_READY ? (this.notReadySince ?? this.now) : null;
    return this.notReadySince !== null && this.now - this.notReadySince < this.settings.loadTimeoutMs;
  }

  private get now(): number {
    return this.clock.now().getTime();
  }
}

const lengthOf = ({ messages }: ChatRequest): number =>
  messages.reduce((length, { content }) => length + content.length, 0);

/** Returns 1 to 60 whole seconds, or null for anything but a number of them. */
const secondsOf = (retryAfter: string | string[] | undefined): number | null => {
  const [first] = [retryAfter].flat();
  return first && /^\d{1,9}$/.test(first) ? Math.min(60, Math.max(1, Number(first))) : null;
};

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the engine refuses connections',
  ENOTFOUND: 'the host of the engine is unknown',
  EAI_AGAIN: 'the host of the engine is unknown',
  UND_ERR_CONNECT_TIMEOUT: 'the host of the engine does not answer',
};

/** Returns why a connection failed, without any address. */
function causeOf({ status, closed, code }: ConnectionFailed): string {
  if (status !== null) return 'the engine broke off its answer';
  if (closed) return 'the engine closed the connection';
  return CAUSES[code] ?? `the engine can't be reached (${code})`;
}
