import type { Clock } from '../../../application/shared/ports.js';
import type { CallerKey } from './caller-key.js';
import { RecentCallers } from './recent-callers.js';
import { SlidingWindow } from './sliding-window.js';
import { SteadyTime } from './steady-time.js';

export interface Limits {
  /** Of all calls of a caller. */
  readonly perMinute: number;
  /** Of those among them that register or log in. */
  readonly authPerMinute: number;
}

/** How a caller stands towards one of the limits. */
export interface Standing {
  readonly policy: 'default' | 'auth';
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until more remains than now: from 1 to 60, or 0 when all of it remains. */
  readonly seconds: number;
}

export interface Verdict {
  /** Every limit that applies to the call. */
  readonly standings: readonly Standing[];
  /** The limit that leaves no room for it, the one with the longest wait if there are two; null for a call that may go on. */
  readonly exceeded: Standing | null;
}

/** Of holders of valid credentials, and again of source addresses; who makes few calls takes some 250 bytes. */
const MOST_CALLERS = 100_000;

/** Counts the calls of each caller. One that it refuses costs nothing, so the wait that it names is the true one. */
export class RateLimiter {
  private readonly time: SteadyTime;
  // Two tables, for a flood of strangers must not have the calls of known callers forgotten.
  private readonly known = new RecentCallers(MOST_CALLERS, begin);
  private readonly strangers = new RecentCallers(MOST_CALLERS, begin);

  constructor(
    private readonly limits: Limits,
    clock: Clock,
  ) {
    this.time = new SteadyTime(clock);
  }

  admit({ known, key }: CallerKey, isAuth: boolean): Verdict {
    const now = this.time.now();
    const calls = (known ? this.known : this.strangers).of(key, now);
    const budgets: Budget[] = [{ policy: 'default', limit: this.limits.perMinute, window: calls.all }];
    if (isAuth) {
      calls.auth ??= new SlidingWindow();
      budgets.push({ policy: 'auth', limit: this.limits.authPerMinute, window: calls.auth });
    }
    const hasRoom = budgets.every(({ window, limit }) => window.used(now) < limit);
    if (hasRoom) for (const { window } of budgets) window.add(now);
    const standings = budgets.map((budget) => standing(budget, now));
    return { standings, exceeded: hasRoom ? null : tightest(standings) };
  }

  /** How the caller stands now towards both limits, without a call being counted. */
  standings({ known, key }: CallerKey): Standing[] {
    const now = this.time.now();
    const calls = (known ? this.known : this.strangers).of(key, now);
    const { perMinute, authPerMinute } = this.limits;
    return [
      standing({ policy: 'default', limit: perMinute, window: calls.all }, now),
      standing({ policy: 'auth', limit: authPerMinute, window: calls.auth ?? new SlidingWindow() }, now),
    ];
  }

  /** How many callers it has in mind. */
  get size(): number {
    return this.known.size + this.strangers.size;
  }
}

/** The least that remains; of two alike, the longer wait. */
export const tightest = (standings: readonly Standing[]): Standing =>
  standings.reduce((tight, one) =>
    one.remaining < tight.remaining || (one.remaining === tight.remaining && one.seconds > tight.seconds) ? one : tight,
  );

interface Calls {
  readonly all: SlidingWindow;
  auth: SlidingWindow | null;
}

const begin = (): Calls => ({ all: new SlidingWindow(), auth: null });

type Budget = Pick<Standing, 'policy' | 'limit'> & { readonly window: SlidingWindow };

const standing = ({ policy, limit, window }: Budget, now: number): Standing => ({
  policy,
  limit,
  remaining: limit - window.used(now),
  seconds: Math.ceil(window.msUntilMoreRoom(now) / 1000),
});
