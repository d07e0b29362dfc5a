import type { RateLimit } from '../../application/operations/ports.js';
import { LeasedShare } from './leased-share.js';

/** A caller, with its share in each of its limits. */
export class Caller {
  private readonly shares: { [Policy in RateLimit['policy']]?: LeasedShare } = {};
  private readonly limits: { [Policy in RateLimit['policy']]?: RateLimit } = {};
  /** The renewal of a lease that is under way. */
  renewing: Promise<unknown> | null = null;

  constructor(readonly key: string) {}

  parts(limits: readonly RateLimit[]): Part[] {
    return limits.map((limit) => {
      this.limits[limit.policy] = limit;
      return { limit, share: this.share(limit.policy) };
    });
  }

  isDue(now: number): boolean {
    return Object.values(this.shares).some((share) => share.isDue(now));
  }

  /** Returns the parts with calls of the last minute that the ledger does not know of. */
  untold(now: number): Part[] {
    return this.parts(Object.values(this.limits)).filter(({ share }) => share.isUntold(now));
  }

  private share(policy: RateLimit['policy']): LeasedShare {
    this.shares[policy] ??= new LeasedShare();
    return this.shares[policy];
  }
}

export interface Part {
  readonly limit: RateLimit;
  readonly share: LeasedShare;
}

export interface Question {
  readonly caller: Caller;
  readonly parts: readonly Part[];
  readonly calls: 0 | 1;
  /** Whether the leases shall grow. */
  readonly wants: boolean;
  /** Whether the question is sent while the ledger is out of reach. */
  readonly isReport: boolean;
}

/** The questions of a caller that one ask answers. */
export interface Group {
  readonly caller: Caller;
  /** The parts in the order in which the ledger locks their rows. The questions may have another order. */
  readonly parts: readonly Part[];
  readonly waiting: Question[];
  wants: boolean;
}

const PLACES: { readonly [Policy in RateLimit['policy']]: number } = { default: 0, auth: 1, key: 2 };

/**
 * Returns a group for the questions of a caller under the same limits. All instances put the groups, and the limits
 * within a group, into the same order. The ledger locks the rows in this order, so no two statements wait for each other
 * in a circle. The limit of all calls comes first.
 */
export function grouped(questions: readonly Question[]): Group[] {
  const groups = new Map<string, Group>();
  for (const question of questions) {
    const { caller, calls, wants } = question;
    const parts = question.parts.toSorted((a, b) => PLACES[a.limit.policy] - PLACES[b.limit.policy]);
    if (parts.length === 0) continue;
    const isOfAll = parts[0]?.limit.policy === 'default';
    const limits = parts.map(({ limit }) => `${limit.policy} ${limit.limit}`);
    const name = [caller.key, isOfAll ? 0 : 1, 9 - parts.length, ...limits].join();
    const group = groups.get(name) ?? { caller, parts, waiting: [], wants: false };
    if (calls > 0) group.waiting.push(question);
    group.wants ||= wants;
    groups.set(name, group);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}
