import type { Clock } from '../shared/ports.js';
import type { InstanceRegistry } from './ports.js';

/** A process whose line to the database broke has so long to be known again. */
const PATIENCE_MS = 5_000;

/** What was missing when it was last asked about, longer ago than this, may have been back meanwhile. */
const FORGOTTEN_MS = 30_000;

interface Missing {
  readonly since: number;
  readonly seen: number;
}

/** Tells processes that have ended from those that are only missed for a moment. To be asked every few seconds. */
export class DeadProcesses {
  /** By the number of a process. */
  private readonly missing = new Map<number, Missing>();

  constructor(
    private readonly processes: InstanceRegistry,
    private readonly clock: Clock,
  ) {}

  /** Those of the numbers that have been missing for a while, each time that this was asked of them. */
  async among(numbers: readonly number[]): Promise<number[]> {
    const missing = new Set(await this.processes.missing(numbers));
    const now = this.clock.now().getTime();
    for (const number of numbers) if (!missing.has(number)) this.missing.delete(number);
    for (const [number, { seen }] of this.missing) if (now - seen > FORGOTTEN_MS) this.missing.delete(number);
    return [...missing].filter((number) => {
      const since = this.missing.get(number)?.since ?? now;
      this.missing.set(number, { since, seen: now });
      return now - since >= PATIENCE_MS;
    });
  }
}
