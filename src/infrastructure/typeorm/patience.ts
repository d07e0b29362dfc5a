import { Carried } from '../system/carried.js';
import { steadyMs } from '../system/steady-clock.js';

/** A wait for the database that has begun. */
export interface Wait {
  /** How long it may take. */
  readonly ms: number;
  /** To be called once, when it is over. */
  readonly over: () => void;
}

/** What there is for the last statement of all, which may be the one that rolls back. */
const LEAST_MS = 100;

const current = new Carried<Patience>();

/** How long the work of one caller waits for the database in all, however many waits those are. */
export class Patience {
  private left: number;
  private waits = 0;
  private since = 0;
  private answered = false;

  private constructor(ms: number) {
    this.left = ms;
  }

  /** Does a caller's work; the answer is to be called when that caller has got one: what goes on then has time again. */
  static bound(ms: number, work: () => void): () => void {
    const patience = new Patience(ms);
    current.run(patience, work);
    return () => {
      patience.answered = true;
    };
  }

  /** The outcome of the work, or this error where that comes later than there is patience. The work goes on. */
  static within<T>(
    work: (resolve: (outcome: T) => void, reject: (error: unknown) => void) => void,
    late: () => Error,
  ): Promise<T> {
    const wait = Patience.wait(Number.POSITIVE_INFINITY);
    return new Promise((resolve, reject) => {
      let waiting = true;
      const end = (settle: () => void) => {
        if (!waiting) return;
        waiting = false;
        clearTimeout(timer);
        wait.over();
        settle();
      };
      const fail = (error: unknown) => end(() => reject(error));
      const timer = wait.ms < Number.POSITIVE_INFINITY ? setTimeout(() => fail(late()), wait.ms) : undefined;
      work((outcome) => end(() => resolve(outcome)), fail);
    });
  }

  /** Begins a wait that takes `most` milliseconds for nobody, and for a caller as much of that as is left. */
  static wait(most: number): Wait {
    const patience = current.value;
    return patience && !patience.answered ? patience.wait(most) : { ms: most, over: () => undefined };
  }

  /** Waits at the same time are counted once. */
  private wait(most: number): Wait {
    const now = steadyMs();
    if (this.waits++ === 0) this.since = now;
    const left = this.left - (now - this.since);
    const over = () => {
      if (--this.waits === 0) this.left -= steadyMs() - this.since;
    };
    return { ms: Math.min(most, Math.max(left, LEAST_MS)), over };
  }
}
