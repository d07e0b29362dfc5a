import { injectable } from 'inversify';
import {
  type RateLimit,
  type RateLimitKey,
  RateLimitStore,
  type RateLimitVerdict,
} from '../../application/operations/ports.js';
import { Clock } from '../../application/shared/ports.js';

/** The most keys of each kind. A key with few calls takes about 250 bytes. */
const MAX_KEYS = 100_000;

/** Counts the calls of this instance in memory. */
@injectable()
export class MemoryRateLimitStore extends RateLimitStore {
  // There are two tables, so that many unknown addresses do not push out the counts of credentials.
  private readonly tables = { credential: new WindowTable(MAX_KEYS), address: new WindowTable(MAX_KEYS) };
  private elapsed = 0;
  private lastRead: number;

  constructor(private readonly clock: Clock) {
    super();
    this.lastRead = clock.now().getTime();
  }

  async take({ kind, value }: RateLimitKey, limits: readonly RateLimit[], calls: 0 | 1): Promise<RateLimitVerdict> {
    const now = this.steadyNow();
    const windows = this.tables[kind].of(value, now);
    const counted = limits.map((limit) => ({ ...limit, window: windowOf(windows, limit.policy) }));
    const admitted = counted.every(({ window, limit }) => window.used(now) + calls <= limit);
    if (admitted && calls > 0) for (const { window } of counted) window.add(now);
    const quotas = counted.map(({ policy, limit, window }) => ({
      policy,
      limit,
      remaining: limit - window.used(now),
      seconds: Math.ceil(window.msUntilMoreRoom(now) / 1000),
    }));
    return { admitted, quotas };
  }

  get size(): number {
    return this.tables.credential.size + this.tables.address.size;
  }

  /** Returns milliseconds that never go back. After the clock was set back, returns the same time once more. */
  private steadyNow(): number {
    const read = this.clock.now().getTime();
    this.elapsed += Math.max(0, read - this.lastRead);
    this.lastRead = read;
    return this.elapsed;
  }
}

type Windows = { [Policy in RateLimit['policy']]?: SlidingWindow };

function windowOf(windows: Windows, policy: RateLimit['policy']): SlidingWindow {
  windows[policy] ??= new SlidingWindow();
  return windows[policy];
}

/**
 * Keeps the windows of each key for at least a minute after its last call. If there are more than `maxKeys`, it drops
 * the keys with the oldest last calls. Two generations of keys make each call equally fast, even with many keys.
 */
class WindowTable {
  private recent = new Map<string, Windows>();
  private earlier = new Map<string, Windows>();
  private begun = 0;
  private readonly maxRecent: number;

  constructor(maxKeys: number) {
    this.maxRecent = Math.ceil(maxKeys / 2);
  }

  of(key: string, now: number): Windows {
    if (now - this.begun >= WINDOW_MS) this.turn(now);
    const known = this.recent.get(key);
    if (known) return known;
    const windows = this.earlier.get(key) ?? {};
    if (this.recent.size >= this.maxRecent) this.turn(now);
    this.recent.set(key, windows);
    return windows;
  }

  get size(): number {
    return this.recent.size + this.earlier.size;
  }

  private turn(now: number): void {
    this.earlier = this.recent;
    this.recent = new Map();
    this.begun = now;
  }
}

const WINDOW_MS = 60_000;
/** Calls within this time are counted together. They leave the window when the last of them leaves. */
const GRAIN_MS = 500;

/**
 * Counts calls within the last minute. A call counts for 60 seconds, and up to half a second longer if other calls
 * followed in the same half second. Times are milliseconds that never go back.
 */
export class SlidingWindow {
  /** Holds pairs, oldest first: the time of the last call in half a second, and the number of calls in it. */
  private pairs: number[] = [];
  private total = 0;

  used(now: number): number {
    let left = 0;
    while (left < this.pairs.length && (this.pairs[left] as number) <= now - WINDOW_MS) {
      this.total -= this.pairs[left + 1] as number;
      left += 2;
    }
    if (left > 0) this.pairs.splice(0, left);
    return this.total;
  }

  add(now: number): void {
    const { pairs } = this;
    const last = pairs.length - 2;
    this.total++;
    if (last >= 0 && grain(pairs[last] as number) === grain(now)) {
      pairs[last] = now;
      pairs[last + 1] = (pairs[last + 1] as number) + 1;
    } else if (last < 0) {
      this.pairs = [now, 1]; // `push` would reserve memory for many numbers, but most callers have called once
    } else pairs.push(now, 1);
  }

  /** Returns the time until the oldest calls leave the window; 0 for an empty window. */
  msUntilMoreRoom(now: number): number {
    return this.used(now) === 0 ? 0 : (this.pairs[0] as number) + WINDOW_MS - now;
  }

  get size(): number {
    return this.pairs.length;
  }
}

const grain = (time: number): number => Math.floor(time / GRAIN_MS);
