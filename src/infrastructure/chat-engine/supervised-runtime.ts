import { isDeepStrictEqual } from 'node:util';
import type { Clock, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeStopped, RuntimeUnavailable } from '../../domain/chat/errors.js';
import type { OnnxSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../domain/chat/runtime-figures.js';
import { ManagedProcess } from '../child-process/managed-process.js';
import { type RestartDelayBounds, RestartDelays } from '../runtimes/restart-delays.js';
import { RuntimeMeter } from '../runtimes/runtime-meter.js';
import { WaitingTime } from '../runtimes/waiting-time.js';
import { callOf, type Order, reportOf } from './protocol.js';
import { RuntimeCalls } from './runtime-calls.js';

/** A runtime that was ready for so long owes its next end to something new: the delays begin anew. */
const STABLE_MS = 10 * 60_000;

export interface RuntimeSettings {
  /** The compiled program of the child process: `worker/main.js`. */
  readonly worker: string;
  /** Threads that one step of the model may use. */
  readonly threads: number;
  /** For an answer, waiting included. */
  readonly timeoutMs: number;
  /** Calls that may wait while others are answered. */
  readonly queue: number;
  /** Calls that are answered at once at most; by default as many as the process can. */
  readonly atOnce?: number;
  /** What a process gets to end by itself, or to confirm a cancelled call after its timeout, before it is killed. */
  readonly stopGraceMs: number;
  readonly loadTimeoutMs: number;
  readonly restartDelayMs: RestartDelayBounds;
}

/** A process and what hangs on it. */
interface Life {
  readonly process: ManagedProcess<Order>;
  readonly calls: RuntimeCalls;
  /** Until ready: the end of patience with loading. Then: the moment at which it counts as stable. */
  timer: NodeJS.Timeout;
  /** We want it gone: its end is no fault. */
  ending: boolean;
}

/**
 * One runtime: what should run, and the process that runs it. There is never more than one process: where another is
 * wanted, it starts when the one before is gone.
 */
export class SupervisedRuntime {
  private source: OnnxSource | null = null;
  private current: RuntimeStatus = { state: 'stopped', reason: null };
  private life: Life | null = null;
  private restart: NodeJS.Timeout | undefined;
  private readonly delays: RestartDelays;
  private readonly waitingTime = new WaitingTime();
  private readonly meter = new RuntimeMeter();

  constructor(
    private readonly id: string,
    private readonly settings: RuntimeSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.delays = new RestartDelays(settings.restartDelayMs);
  }

  get status(): RuntimeStatus {
    return this.current;
  }

  get figures(): RuntimeFigures {
    return this.meter.figures(this.life?.calls.turns ?? null);
  }

  start(source: OnnxSource): void {
    if (isDeepStrictEqual(this.source, source) && this.current.state !== 'unavailable') return;
    this.source = source;
    this.delays.reset();
    this.load();
  }

  async stop(): Promise<void> {
    this.source = null;
    this.become('stopped');
    const { life } = this;
    this.dismiss(new RuntimeStopped());
    await life?.process.gone;
  }

  async complete(
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion> {
    const { state, reason } = this.current;
    if (state === 'stopped') throw new RuntimeStopped();
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable' || !this.life) throw new RuntimeUnavailable(reason ?? 'its process is gone');
    return this.life.calls.complete(request, caller, signal, admitted);
  }

  private become(state: RuntimeStatus['state'], reason: string | null = null): void {
    clearTimeout(this.restart);
    this.current = { state, reason };
  }

  /** Starts the process, or waits for the end of the one before: then `gone` comes back here. */
  private load(): void {
    this.become('loading');
    if (this.life) {
      this.dismiss(new RuntimeLoading());
      return;
    }
    try {
      if (this.source) this.life = this.begin(this.source);
    } catch (error) {
      this.retryLater(`its process can't be started (${(error as NodeJS.ErrnoException).code ?? 'unknown cause'})`);
    }
  }

  private begin(source: OnnxSource): Life {
    const child = new ManagedProcess<Order>(this.settings.worker, source.folder, {
      message: (message) => this.receive(life, message),
      line: (stream, line) => this.log.info('chat runtime output', { runtime: this.id, stream, line }),
      gone: (reason) => this.gone(life, reason),
    });
    const calls = new RuntimeCalls(
      { ...this.settings, graceMs: this.settings.stopGraceMs },
      this.waitingTime,
      this.meter,
      this.clock,
      (order) => child.send(order),
      () => child.kill('it did not react to a cancelled call'),
    );
    const timer = setTimeout(() => this.giveUpLoading(life), this.settings.loadTimeoutMs);
    const life: Life = { process: child, calls, timer, ending: false };
    this.log.info('chat runtime started', { runtime: this.id, pid: child.pid });
    const { threads, atOnce: maxBatch } = this.settings;
    child.send({ type: 'load', folder: source.folder, threads, weights: source.dtype, maxBatch });
    return life;
  }

  private receive(life: Life, message: unknown): void {
    if (life.ending) return;
    const report = reportOf(message);
    if (!report) this.receiveNonsense(life, callOf(message));
    else if (report.type === 'ready') this.welcome(life, report.maxBatch);
    else if (report.type === 'broken') this.breakOff(report.reason);
    else life.calls.receive(report);
  }

  private receiveNonsense(life: Life, call: number | null): void {
    this.log.warn('chat runtime sent nonsense', { runtime: this.id, call });
    if (call !== null) life.calls.receiveNonsense(call);
  }

  private welcome(life: Life, maxBatch: number): void {
    life.calls.open(Math.max(1, Math.min(maxBatch, this.settings.atOnce ?? maxBatch)));
    clearTimeout(life.timer);
    life.timer = setTimeout(() => this.delays.reset(), STABLE_MS).unref();
    this.become('ready');
    this.log.info('chat runtime ready', { runtime: this.id });
  }

  private giveUpLoading(life: Life): void {
    const within = `within ${this.settings.loadTimeoutMs / 1_000} s`;
    this.breakOff(`the model did not load ${within}: set SERVICE_RUNTIME_LOAD_TIMEOUT_S higher, or start it once more`);
    life.process.kill('it did not load in time');
  }

  /** The model can't be used. Trying again would give the same, so that is left to whoever mends the model. */
  private breakOff(reason: string): void {
    this.log.warn('chat runtime unavailable', { runtime: this.id, reason });
    this.become('unavailable', reason);
    this.dismiss(new RuntimeUnavailable(reason));
  }

  private dismiss(error: Error): void {
    const { life } = this;
    if (!life) return;
    life.ending = true;
    clearTimeout(life.timer);
    life.calls.fail(error);
    life.process.end(this.settings.stopGraceMs);
  }

  private gone(life: Life, reason: string): void {
    clearTimeout(life.timer);
    this.life = null;
    this.log.info('chat runtime ended', { runtime: this.id, pid: life.process.pid });
    if (!life.ending) {
      life.calls.fail(new RuntimeUnavailable(reason));
      this.retryLater(reason);
    } else if (this.current.state === 'loading') this.load();
  }

  private retryLater(reason: string): void {
    const delay = this.delays.next();
    this.log.warn('chat runtime unavailable', { runtime: this.id, reason, restartInMs: delay });
    this.become('unavailable', reason);
    this.restart = setTimeout(() => this.load(), delay);
  }
}
