import { injectable } from 'inversify';
import { Breaker, type BreakerState, type Pass } from '../../domain/chat/breaker.js';
import { Clock } from '../shared/ports.js';

/** The breaker of a target as it is now. */
export interface BreakerNow {
  readonly state: BreakerState;
  /** The time until calls may try the target. Null: they may now. */
  readonly retryAfterSeconds: number | null;
}

/** A call that a breaker has let through. Only its first end counts. */
export interface Passed {
  /** Takes the first content of the answer. */
  began(): void;
  answered(): void;
  /** Takes a failure that is the target's fault. `waitMs` is the wait that the target advised. */
  failed(waitMs: number): void;
  /** Takes an end that says nothing about the target. */
  left(): void;
}

interface Watched {
  breaker: Breaker;
  readonly attempts: Map<string, number>;
}

/** Keeps a breaker for each target on this instance, and counts its attempts. Forgets both when the target stops. */
@injectable()
export class Breakers {
  private readonly watched = new Map<string, Watched>();

  constructor(private readonly clock: Clock) {}

  read(id: string): BreakerNow {
    const breaker = this.watched.get(id)?.breaker ?? Breaker.closed;
    const waitMs = Breaker.waitMs(breaker, this.now);
    return {
      state: Breaker.state(breaker, this.now),
      retryAfterSeconds: waitMs === 0 ? null : Math.ceil(waitMs / 1_000),
    };
  }

  admits(id: string): boolean {
    const watched = this.watched.get(id);
    return !watched || Breaker.admits(watched.breaker, this.now);
  }

  /** Lets a call through. Requires `admits`. */
  enter(id: string): Passed {
    const watched = this.of(id);
    const [breaker, pass] = Breaker.enter(watched.breaker);
    watched.breaker = breaker;
    let isOpen = true;
    const end = (change: (breaker: Breaker, pass: Pass) => Breaker) => {
      if (isOpen) watched.breaker = change(watched.breaker, pass);
      isOpen = false;
    };
    return {
      began: () => {
        if (isOpen) watched.breaker = Breaker.began(watched.breaker, pass);
      },
      answered: () => end((before) => Breaker.answered(before, pass)),
      failed: (waitMs) => end((before) => Breaker.failed(before, pass, { now: this.now, waitMs })),
      left: () => end(Breaker.left),
    };
  }

  /** Counts an attempt of a target that a breaker has let through. */
  count(id: string, outcome: string): void {
    const attempts = this.watched.get(id)?.attempts;
    attempts?.set(outcome, (attempts.get(outcome) ?? 0) + 1);
  }

  /** Forgets a target that has stopped. */
  forget(id: string): void {
    this.watched.delete(id);
  }

  /** Returns the number of the target's attempts by outcome. */
  attemptsOf(id: string): ReadonlyMap<string, number> {
    return this.watched.get(id)?.attempts ?? new Map();
  }

  private of(id: string): Watched {
    const known = this.watched.get(id);
    if (known) return known;
    const watched: Watched = { breaker: Breaker.closed, attempts: new Map() };
    this.watched.set(id, watched);
    return watched;
  }

  private get now(): number {
    return this.clock.now().getTime();
  }
}
