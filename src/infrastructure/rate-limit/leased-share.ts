import type { Quota, RateLimit } from '../../application/operations/ports.js';
import type { LedgerPart, LedgerStanding } from './rate-limit-ledger.js';
import { SlidingWindow, WINDOW_MS } from './sliding-window.js';

/** An instance may use a lease for this time. */
const LEASE_MS = 4_000;
/** After this time, a lease is renewed and its calls are told. The next report mostly comes before its end. */
const RENEWED_MS = 2_500;
/** The ledger reserves a lease for longer, so that the calls are told before others can get them. */
export const RESERVED_MS = 5_500;
/** The part of a limit that an instance may admit before it has asked the ledger. */
const UNASKED_PART = 0.01;
/** The part of a limit that all instances together may admit before they have asked the ledger. */
const ALL_UNASKED_PART = 0.05;
/** A caller is near its limit if less than a twentieth of the limit is left. */
const NEAR_SHARE = 20;
/** Limits below this one get no leases (`take_rate_limits`). */
const LEAST_LEASED = 40;
/** A standing that is older is read again. */
const FRESH_MS = 1_000;
/** A refusal holds for this time if other instances have leases, because they may give calls back. */
const RESERVED_REFUSAL_MS = 500;

/** The counts of a limit, as the ledger has told them last. */
interface Standing {
  readonly limit: number;
  /** The calls that were left to this instance, with those of its lease. */
  readonly room: number;
  readonly at: number;
  /** The time at which more calls fit. Null: no calls are counted. */
  roomAt: number | null;
  readonly refusedUntil: number;
}

/** The calls of one caller under one policy, as this instance knows them. Times are those of a steady clock. */
export class LeasedShare {
  /** The calls of this instance. They are what counts while the ledger is out of reach. */
  private readonly own = new SlidingWindow();
  private readonly untold = new SlidingWindow();
  /** The calls that are on their way to the ledger. */
  private telling: readonly number[] = [];
  private tellingSince = 0;
  private tellingUnasked = 0;
  private left = 0;
  private leased = 0;
  private leasedAt = 0;
  private usableUntil = 0;
  private standing: Standing | null = null;
  /** The calls that the standing does not contain yet. */
  private since = 0;
  /** Calls that were made without a lease, and that the ledger does not know of yet. */
  private unasked = 0;

  hasLease({ limit }: RateLimit, now: number): boolean {
    return this.left > 0 && now < this.usableUntil && this.standing?.limit === limit;
  }

  /** Whether there is no lease, or it is nearly used up. */
  isLow(now: number): boolean {
    return this.left * 4 < this.leased || now >= this.usableUntil;
  }

  /** Whether the lease should be renewed before its time ends. */
  isOld(now: number): boolean {
    return now >= this.leasedAt + RENEWED_MS;
  }

  /**
   * Tells whether a call may be made before the ledger has counted it. So no call waits while its caller is far from the
   * limit. Even if all `instances` do this at the limit, they exceed it by at most 5 %.
   */
  mayGoUnasked(limit: RateLimit, instances: number, now: number): boolean {
    const { standing } = this;
    const most = Math.floor(limit.limit * Math.min(UNASKED_PART, ALL_UNASKED_PART / instances));
    if (this.unasked >= most || this.isRefused(limit, now)) return false;
    if (standing?.limit !== limit.limit || now >= standing.at + WINDOW_MS) return true;
    return standing.room - this.since > limit.limit / NEAR_SHARE;
  }

  isFresh({ limit }: RateLimit, now: number): boolean {
    return this.standing?.limit === limit && now < this.standing.at + FRESH_MS;
  }

  isRefused({ limit }: RateLimit, now: number): boolean {
    const { standing } = this;
    return standing?.limit === limit && standing.room - this.since <= 0 && now < standing.refusedUntil;
  }

  /** Whether there are calls of the last minute that the ledger does not know of. */
  isUntold(now: number): boolean {
    return this.untold.used(now) > 0;
  }

  /** Whether calls must be told now, because the lease that stands for them ends soon. */
  isDue(now: number): boolean {
    return this.isUntold(now) && (this.unasked > 0 || this.isOld(now));
  }

  /** Uses a call of the lease, or an unasked one if there is none. */
  use(limit: RateLimit, now: number): void {
    if (this.hasLease(limit, now)) this.left -= 1;
    else this.unasked += 1;
    this.since += 1;
    if (this.standing) this.standing.roomAt ??= now + WINDOW_MS;
    this.useAlone(now);
  }

  /** Counts a call that the ledger does not know of yet. */
  useAlone(now: number): void {
    this.own.add(now);
    this.untold.add(now);
  }

  /** Counts a call that the ledger has counted. */
  useTold(now: number): void {
    this.own.add(now);
  }

  /** Returns what to send to the ledger. With `calls`, the lease is given back, so that they can use its calls. */
  ask(limit: RateLimit, about: { calls: number; wants: boolean; isFirst: boolean }, now: number): LedgerPart {
    if (!about.isFirst) return { ...limit, held: null, wants: false, used: [] };
    this.untold.used(now);
    this.telling = this.untold.drained();
    const used: [number, number][] = [];
    for (let at = 0; at < this.telling.length; at += 2) {
      used.push([Math.round(now - (this.telling[at] as number)), this.telling[at + 1] as number]);
    }
    [this.tellingSince, this.tellingUnasked] = [this.since, this.unasked];
    if (about.calls > 0 || !this.hasLease(limit, now)) this.left = 0;
    const isLeased = limit.limit >= LEAST_LEASED && (about.wants || this.left > 0 || used.length > 0);
    return { ...limit, held: isLeased ? this.left : null, wants: isLeased && about.wants, used };
  }

  /** Takes the answer of the ledger to `part`. */
  answered({ limit }: RateLimit, part: LedgerPart, standing: LedgerStanding, sentAt: number, now: number): void {
    const { used, reserved, granted, room } = standing;
    this.since -= this.tellingSince;
    this.unasked -= this.tellingUnasked;
    [this.telling, this.tellingSince, this.tellingUnasked] = [[], 0, 0];
    this.standing = {
      limit,
      room: limit - used - reserved,
      at: now,
      roomAt: room === null ? (reserved > 0 ? now + RESERVED_MS : null) : now + room,
      refusedUntil: now + Math.min(room ?? RESERVED_MS, reserved > 0 ? RESERVED_REFUSAL_MS : WINDOW_MS),
    };
    if (part.held === null) return;
    this.left += granted;
    this.leased = this.left;
    this.leasedAt = sentAt;
    this.usableUntil = sentAt + LEASE_MS;
  }

  /** Forgets the lease and the standing after a lost answer. The calls that were sent are told again. */
  unanswered(): void {
    this.untold.restore(this.telling);
    [this.telling, this.tellingSince, this.since] = [[], 0, 0];
    [this.unasked, this.tellingUnasked] = [0, 0];
    this.left = 0;
    this.standing = null;
  }

  /** Returns the quota by what the ledger has told last. */
  quota({ policy, limit }: RateLimit, now: number): Quota {
    const { room, roomAt } = this.standing ?? { room: limit, roomAt: now + this.own.msUntilMoreRoom(now) };
    return quotaOf({ policy, limit }, room - this.since, (roomAt ?? now) - now);
  }

  ownRoom({ limit }: RateLimit, now: number): number {
    return limit - this.own.used(now);
  }

  /** Returns the quota by the calls of this instance alone. */
  ownQuota(limit: RateLimit, now: number): Quota {
    return quotaOf(limit, this.ownRoom(limit, now), this.own.msUntilMoreRoom(now));
  }
}

function quotaOf({ policy, limit }: RateLimit, room: number, ms: number): Quota {
  const remaining = Math.max(0, Math.min(limit, room));
  const seconds = remaining === limit ? 0 : Math.max(1, Math.min(60, Math.ceil(ms / 1_000)));
  return { policy, limit, remaining, seconds };
}
