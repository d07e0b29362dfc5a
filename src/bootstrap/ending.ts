import { setTimeout as delay } from 'node:timers/promises';
import { steadyMs } from '../infrastructure/system/steady-clock.js';

/** Ends something, which may take so many milliseconds. */
export type End = (graceMs: number) => Promise<unknown>;
export type Later = (what: string, end: End, mostMs?: number) => void;

interface Step {
  readonly what: string;
  readonly end: End;
  readonly mostMs: number;
}

/** Rejects as well where the step fails at once. */
const endOf = async ({ end }: Step, graceMs: number) => end(graceMs);

/** What has been begun and is to be ended, the latest first, in a set time for all. */
export class Ending {
  private readonly steps: Step[] = [];

  /** Each may take what is left of the time for all, and `mostMs` at most. What comes while all ends is ended as well. */
  readonly later: Later = (what, end, mostMs = Number.POSITIVE_INFINITY) => {
    this.steps.push({ what, end, mostMs });
  };

  /**
   * Resolves when all has ended, to nothing; after `mostMs` to what has not ended yet. One that fails doesn't keep the
   * others from their end; then this rejects with the first failure.
   */
  async within(mostMs: number): Promise<readonly string[]> {
    const until = steadyMs() + mostMs;
    const failures: unknown[] = [];
    const all = async () => {
      for (let step = this.steps.at(-1); step; step = this.steps.at(-1)) {
        const left = Math.max(0, until - steadyMs());
        await endOf(step, Math.min(left, step.mostMs)).catch((error: unknown) => failures.push(error));
        this.steps.splice(this.steps.indexOf(step), 1); // there may be later ones by now
      }
    };
    const enough = new AbortController();
    await Promise.race([all(), delay(mostMs, undefined, { signal: enough.signal }).catch(() => undefined)]);
    enough.abort();
    if (failures.length > 0) throw failures[0];
    return this.steps.map(({ what }) => what).reverse();
  }
}
