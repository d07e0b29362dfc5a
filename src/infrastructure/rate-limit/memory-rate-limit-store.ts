import { injectable } from 'inversify';
import {
  type RateLimit,
  type RateLimitKey,
  RateLimitStore,
  type RateLimitVerdict,
} from '../../application/operations/ports.js';
import { Clock } from '../../application/shared/ports.js';
import { RecentKeys } from './recent-keys.js';
import { SlidingWindow } from './sliding-window.js';

/** The most keys of each kind. A key with few calls takes about 250 bytes. */
const MAX_KEYS = 100_000;

/** Counts the calls of this instance in memory. */
@injectable()
export class MemoryRateLimitStore extends RateLimitStore {
  private readonly keys = new RecentKeys<Windows>(MAX_KEYS, () => ({}));
  private elapsed = 0;
  private lastRead: number;

  constructor(private readonly clock: Clock) {
    super();
    this.lastRead = clock.now().getTime();
  }

  async take(key: RateLimitKey, limits: readonly RateLimit[], calls: 0 | 1): Promise<RateLimitVerdict> {
    const now = this.steadyNow();
    const windows = this.keys.of(key, now);
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
    return this.keys.size;
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
