import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Returns the result of `work`, or null after `milliseconds`. The work itself goes on. */
export async function resultWithin<T>(work: Promise<T>, milliseconds: number): Promise<T | null> {
  const timer = new AbortController();
  const late = delay(milliseconds, null, { signal: timer.signal });
  return Promise.race([work, late]).finally(() => timer.abort());
}

/** Returns milliseconds of a monotonic clock, to measure durations. */
export const steadyMs = (): number => performance.now();

export interface LaneLoad {
  readonly running: number;
  readonly waiting: number;
  readonly refused: number;
}

/** Runs at most `width` tasks at once and queues at most `maxWaiting` more. Throws `full()` for a further task. */
export class Lane {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private refused = 0;

  constructor(
    private readonly width: number,
    private readonly maxWaiting: number,
    private readonly full: () => Error,
  ) {}

  get load(): LaneLoad {
    return { running: this.running, waiting: this.waiting.length, refused: this.refused };
  }

  /** Runs a task in its turn. An aborted `signal` rejects a task that waits, but does not end a running task. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.running >= this.width) {
      if (this.waiting.length >= this.maxWaiting) {
        this.refused++;
        throw this.full();
      }
      await this.turn(signal);
    } else {
      this.running++;
    }
    try {
      return await task();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }

  private turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp);
      this.waiting.push(begin);
    });
  }
}

/** Runs `task` repeatedly, with a pause after each run, until stopped. */
export class Repeating {
  private timer: NodeJS.Timeout | null = null;
  private isDue = false;
  private current: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();

  constructor(
    private readonly task: (stopping: AbortSignal) => Promise<void>,
    private readonly pauseMs: number | (() => number),
    private readonly failed: (error: unknown) => void,
  ) {}

  start(): void {
    if (this.stopping.signal.aborted) return;
    this.timer = null;
    this.isDue = false;
    this.current = this.task(this.stopping.signal).catch(this.failed);
    void this.current.then(() => {
      if (this.stopping.signal.aborted) return;
      const pauseMs = typeof this.pauseMs === 'number' ? this.pauseMs : this.pauseMs();
      this.timer = setTimeout(() => this.start(), this.isDue ? 0 : pauseMs);
    });
  }

  /** Runs the task at once, or again as soon as the present run has ended. */
  wake(): void {
    this.isDue = true;
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.start();
  }

  /** Resolves when the task has ended, or after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.stopping.abort();
    if (this.timer) clearTimeout(this.timer);
    await resultWithin(this.current, graceMs);
  }
}

/** In milliseconds. */
export interface RestartDelayBounds {
  readonly first: number;
  readonly max: number;
}

/**
 * Returns the milliseconds before each new attempt. The time is random, between a half of a limit and the limit, which
 * doubles from `first` up to `max`. So processes that ended together do not restart together.
 */
export class RestartDelays {
  private attempts = 0;

  constructor(private readonly bounds: RestartDelayBounds) {}

  next(): number {
    const most = Math.max(1, Math.min(this.bounds.max, this.bounds.first * 2 ** this.attempts));
    this.attempts += 1;
    return randomInt(Math.ceil(most / 2), Math.floor(most) + 1);
  }

  reset(): void {
    this.attempts = 0;
  }
}
