import { setTimeout as delay } from 'node:timers/promises';
import type { LogFields, Logger } from '../../application/shared/ports.js';
import { type RestartDelayBounds, RestartDelays } from '../system/scheduling.js';
import { ChildLimits } from './child-limits.js';

/** A process that ends this often, without a stable time in between, counts as crash-looping. */
const ENDS_OF_A_LOOP = 3;

/** A process that a supervisor starts and ends. */
export interface SupervisedProcess {
  readonly pid: number | undefined;
  /** Resolves when the process can serve. Rejects with the reason if it cannot, ends, or takes too long. */
  readonly ready: Promise<void>;
  /** Resolves with the reason when the process no longer exists. */
  readonly gone: Promise<string>;
  /** Resolves when the process no longer exists. */
  end(): Promise<void>;
}

export interface SupervisorSettings {
  readonly restartDelayMs: RestartDelayBounds;
  /** A process that ends after it was ready for this time restarts with the shortest delay. */
  readonly stableMs: number;
  /** The limits that this process shares with others. Default: none. */
  readonly children?: ChildLimits;
}

export interface SupervisorLog {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** The first words of each event, such as `chat runtime` in `chat runtime started`. */
  readonly subject: string;
  readonly fields: LogFields;
}

/**
 * `waiting` lasts until the next attempt. `no_room` lasts until another child process of this instance ends for good.
 * `failed` lasts until the next `start`, `resume` or `stop`.
 */
export type SupervisorState = 'stopped' | 'starting' | 'running' | 'waiting' | 'no_room' | 'failed';

/** Keeps one process running: starts it, restarts it with back-off when it ends, and stops it. Never runs two. */
export class Supervisor<P extends SupervisedProcess> {
  state: SupervisorState = 'stopped';
  /** The reason of the last failure; null while the process runs. */
  reason: string | null = null;
  /** The process that is ready now. */
  current: P | null = null;
  /** The latest process that was ready; it may have ended. */
  latest: P | null = null;
  /** Processes that were started so far. */
  starts = 0;
  private readonly delays: RestartDelays;
  private readonly limits: ChildLimits;
  private endsInARow = 0;
  private failedToStart = false;
  private run = new AbortController();
  private lastRun: Promise<void> = Promise.resolve();

  constructor(
    private readonly launch: (signal: AbortSignal) => P | Promise<P>,
    private readonly settings: SupervisorSettings,
    private readonly logging: SupervisorLog,
    /** A callback for a process that has ended by itself. The state has already changed. */
    private readonly onLost: (process: P, reason: string) => void = () => undefined,
  ) {
    this.delays = new RestartDelays(settings.restartDelayMs);
    this.limits = settings.children ?? new ChildLimits();
  }

  /**
   * Starts the process, and resolves when it is ready. If the start fails, ends the process and rejects. Rejects with
   * TooManyProcesses if this instance has no room for it.
   */
  start(): Promise<void> {
    return this.begin(false);
  }

  /** Starts the process as soon as there is room. Tries again until it is ready. Resolves after the first attempt. */
  resume(): Promise<void> {
    return this.begin(true).catch(() => undefined);
  }

  /** Stops the process. Resolves when it no longer exists. */
  stop(): Promise<void> {
    this.abandon('stopped');
    return this.lastRun;
  }

  /** Ends the process and starts no other, because each further attempt would fail for the same reason. */
  fail(reason: string): void {
    this.abandon('failed');
    this.reason = reason;
    this.note('warn', 'unavailable', { reason });
  }

  /** Returns whether the supervisor waits for the next attempt after a failed start or after several ends in a row. */
  get isCrashLooping(): boolean {
    return this.state === 'waiting' && (this.failedToStart || this.endsInARow >= ENDS_OF_A_LOOP);
  }

  private abandon(state: SupervisorState): void {
    this.run.abort();
    this.current = null;
    this.state = state;
  }

  /** Starts a new run, after the process of the previous run has ended. */
  private begin(retriesFirst: boolean): Promise<void> {
    this.abandon('starting');
    this.run = new AbortController();
    this.delays.reset();
    const { signal } = this.run;
    return new Promise((resolve, reject) => {
      const settleFirst = (error?: unknown) => (error === undefined ? resolve() : reject(error));
      this.lastRun = this.lastRun
        .then(() => {
          if (!signal.aborted) this.requireRoom(retriesFirst);
          return this.limits.hold(() => this.keepRunning(signal, retriesFirst, settleFirst), signal);
        })
        .catch(settleFirst);
    });
  }

  private requireRoom(mayWait: boolean): void {
    const { refusal } = this.limits;
    if (!refusal) return;
    this.state = mayWait ? 'no_room' : 'stopped';
    this.reason = refusal.message;
    this.note('warn', 'has no room', { reason: refusal.message });
    if (!mayWait) throw refusal;
  }

  private async keepRunning(
    signal: AbortSignal,
    retriesFirst: boolean,
    settleFirst: (error?: unknown) => void,
  ): Promise<void> {
    this.reason = null;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        this.state = 'starting';
        const process = await this.limits.load(() => this.attempt(signal), signal);
        settleFirst();
        const reason = await process.gone;
        if (!signal.aborted) await this.waitForRestart(reason, signal, () => this.tellLost(process, reason));
      } catch (error) {
        if (attempt === 1 && !retriesFirst && !signal.aborted) this.abandon('stopped');
        settleFirst(error);
        if (signal.aborted) return;
        this.failedToStart = true;
        await this.waitForRestart((error as Error).message, signal);
      }
    }
    settleFirst(signal.reason);
  }

  /** Starts a process. Resolves when it is ready. If it does not get ready, ends it and then rejects. */
  private async attempt(signal: AbortSignal): Promise<P> {
    const process = await this.launch(signal);
    process.ready.catch(() => undefined);
    this.starts++;
    this.note('info', 'started', { pid: process.pid });
    const end = () => void process.end();
    signal.addEventListener('abort', end);
    void process.gone.then(() => {
      signal.removeEventListener('abort', end);
      this.note('info', 'ended', { pid: process.pid });
    });
    try {
      signal.throwIfAborted();
      await process.ready;
      signal.throwIfAborted();
    } catch (error) {
      await process.end();
      throw error;
    }
    this.becomeReady(process);
    return process;
  }

  private becomeReady(process: P): void {
    this.current = process;
    this.latest = process;
    this.state = 'running';
    this.reason = null;
    this.failedToStart = false;
    const stable = setTimeout(() => {
      this.delays.reset();
      this.endsInARow = 0;
    }, this.settings.stableMs).unref();
    void process.gone.then(() => clearTimeout(stable));
    this.note('info', 'ready', { pid: process.pid });
  }

  private async waitForRestart(reason: string, signal: AbortSignal, stateChanged = () => {}): Promise<void> {
    const restartInMs = this.delays.next();
    this.endsInARow++;
    this.current = null;
    this.state = 'waiting';
    this.reason = reason;
    this.note('warn', 'unavailable', { reason, restartInMs });
    stateChanged();
    await delay(restartInMs, undefined, { signal }).catch(() => undefined);
  }

  /** Calls `onLost`. An error of this listener must not end the supervision. */
  private tellLost(process: P, reason: string): void {
    try {
      this.onLost(process, reason);
    } catch (error) {
      this.note('warn', 'listener failed', { error });
    }
  }

  private note(level: 'info' | 'warn', event: string, fields: LogFields): void {
    const { log, subject, fields: common } = this.logging;
    log[level](`${subject} ${event}`, { ...common, ...fields });
  }
}
