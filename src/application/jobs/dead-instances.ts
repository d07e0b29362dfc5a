import type { Clock } from '../shared/ports.js';
import type { InstanceRegistry } from './ports.js';

/** An instance whose connection to the database broke has this time to register again. */
const GRACE_MS = 5_000;

/** An instance that nobody asked about for this long may have been back meanwhile. */
const STALE_MS = 30_000;

interface Missing {
  readonly since: number;
  readonly seen: number;
}

/** Tells instances that have ended from those that are missing for a moment. */
export class DeadInstances {
  private readonly missing = new Map<number, Missing>();

  constructor(
    private readonly instances: InstanceRegistry,
    private readonly clock: Clock,
  ) {}

  /** Returns the instances that were missing in every call since `GRACE_MS` ago. Expects a call every few seconds. */
  async among(numbers: readonly number[]): Promise<number[]> {
    const missing = new Set(await this.instances.missing(numbers));
    const now = this.clock.now().getTime();
    for (const number of numbers) if (!missing.has(number)) this.missing.delete(number);
    for (const [number, { seen }] of this.missing) if (now - seen > STALE_MS) this.missing.delete(number);
    return [...missing].filter((number) => {
      const since = this.missing.get(number)?.since ?? now;
      this.missing.set(number, { since, seen: now });
      return now - since >= GRACE_MS;
    });
  }
}
