/**
 * Keeps calls away from a target that fails. A closed breaker lets all calls through. It opens after five failures within
 * 30 seconds. After a pause, an open breaker lets one call through as a probe. If the probe gets an answer, the breaker
 * closes. If the probe fails, a longer pause follows.
 */
export interface Breaker {
  /** The latest failures, oldest first. */
  readonly failures: readonly Failure[];
  /** Present while the breaker is open. */
  readonly opened: Opening | null;
  /** Grows with each opening, so that a result of a call from before does not count. */
  readonly openings: number;
  /** The pause of the latest opening, without what the target advised. 0 after a success. */
  readonly pauseMs: number;
}

interface Failure {
  readonly at: number;
  /** The wait that the target advised with its refusal. */
  readonly waitMs: number;
}

interface Opening {
  readonly at: number;
  readonly pauseMs: number;
  readonly isProbed: boolean;
}

/** Lets one call through. */
export interface Pass {
  readonly opening: number;
  readonly isProbe: boolean;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

export const breakerRules = {
  failures: 5,
  windowMs: 30_000,
  firstPauseMs: 1_000,
  longestPauseMs: 60_000,
} as const;

const fresh: Breaker = { failures: [], opened: null, openings: 0, pauseMs: 0 };

export const Breaker = {
  closed: fresh,

  /** `half_open`: the pause is over, or a probe is on its way. */
  state({ opened }: Breaker, now: number): BreakerState {
    if (!opened) return 'closed';
    return opened.isProbed || isOver(opened, now) ? 'half_open' : 'open';
  },

  /** Returns whether a call may try the target now. */
  admits: ({ opened }: Breaker, now: number): boolean => !opened || (!opened.isProbed && isOver(opened, now)),

  /** Returns the time until a call may try the target. While a probe is on its way, this is the first pause. */
  waitMs({ opened }: Breaker, now: number): number {
    if (!opened) return 0;
    if (isOver(opened, now)) return opened.isProbed ? breakerRules.firstPauseMs : 0;
    return opened.at + opened.pauseMs - now;
  },

  /** Lets a call through. Requires `admits`. */
  enter(breaker: Breaker): [Breaker, Pass] {
    const { opened, openings } = breaker;
    const pass = { opening: openings, isProbe: opened !== null };
    return [opened ? { ...breaker, opened: { ...opened, isProbed: true } } : breaker, pass];
  },

  /** Takes the first content of an answer. A probe closes the breaker. */
  began(breaker: Breaker, pass: Pass): Breaker {
    const closes = pass.isProbe && breaker.opened !== null && isPresent(breaker, pass);
    return closes ? { ...breaker, opened: null, failures: [] } : breaker;
  },

  /** Takes the end of a whole answer. */
  answered(breaker: Breaker, pass: Pass): Breaker {
    return isPresent(breaker, pass) ? { ...Breaker.began(breaker, pass), pauseMs: 0 } : breaker;
  },

  /** Takes a failure of the target. `waitMs` is the wait that it advised. */
  failed(breaker: Breaker, pass: Pass, { now, waitMs }: { readonly now: number; readonly waitMs: number }): Breaker {
    if (!isPresent(breaker, pass)) return breaker;
    const { windowMs, failures: most } = breakerRules;
    const recent = breaker.failures.filter(({ at }) => Math.abs(now - at) < windowMs);
    const failures = [...recent, { at: now, waitMs }];
    if (breaker.opened === null && failures.length < most) return { ...breaker, failures };
    const { firstPauseMs, longestPauseMs } = breakerRules;
    const grown = Math.min(Math.max(firstPauseMs, 2 * breaker.pauseMs), longestPauseMs);
    const advised = Math.max(...failures.map((one) => one.at + one.waitMs - now));
    const pauseMs = Math.min(Math.max(grown, advised), longestPauseMs);
    const opened = { at: now, pauseMs, isProbed: false };
    return { failures: [], opened, openings: breaker.openings + 1, pauseMs: grown };
  },

  /** Takes the end of a call that says nothing about the target, for example because its caller has left. */
  left(breaker: Breaker, pass: Pass): Breaker {
    if (!pass.isProbe || !isPresent(breaker, pass) || !breaker.opened) return breaker;
    return { ...breaker, opened: { ...breaker.opened, isProbed: false } };
  },
};

/** A clock that was set back also ends the pause. */
const isOver = ({ at, pauseMs }: Opening, now: number): boolean => now >= at + pauseMs || now < at;

/** Returns whether the breaker has neither opened nor closed otherwise since it let the call through. */
const isPresent = ({ openings, opened }: Breaker, { opening, isProbe }: Pass): boolean =>
  openings === opening && (isProbe || opened === null);
