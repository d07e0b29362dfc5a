import { setTimeout as delay } from 'node:timers/promises';
import { steadyMs } from '../infrastructure/system/scheduling.js';

/** Ends something within `graceMs` milliseconds. */
type End = (graceMs: number) => Promise<unknown>;
/** Adds a shutdown step. `mostMs` limits its time. */
export type AddStep = (name: string, end: End, mostMs?: number) => void;

interface Step {
  readonly name: string;
  readonly end: End;
  readonly mostMs: number;
}

/** Turns a synchronous failure of a step into a rejection. */
const run = async ({ end }: Step, graceMs: number) => end(graceMs);

/** Collects shutdown steps and runs them in reverse order within a time limit. */
export class ShutdownSteps {
  private readonly steps: Step[] = [];

  /** Adds a step. Steps added during the shutdown also run. */
  readonly add: AddStep = (name, end, mostMs = Number.POSITIVE_INFINITY) => {
    this.steps.push({ name, end, mostMs });
  };

  /**
   * Runs all steps, the latest first. Returns the names of the steps that did not finish within `mostMs`. After a
   * failure, the other steps still run, and then the first failure is thrown.
   */
  async within(mostMs: number): Promise<readonly string[]> {
    const until = steadyMs() + mostMs;
    const failures: unknown[] = [];
    const all = async () => {
      for (let step = this.steps.at(-1); step; step = this.steps.at(-1)) {
        const left = Math.max(0, until - steadyMs());
        await run(step, Math.min(left, step.mostMs)).catch((error: unknown) => failures.push(error));
        this.steps.splice(this.steps.indexOf(step), 1); // steps may have been added meanwhile
      }
    };
    const finished = new AbortController();
    await Promise.race([all(), delay(mostMs, undefined, { signal: finished.signal }).catch(() => undefined)]);
    finished.abort();
    if (failures.length > 0) throw failures[0];
    return this.steps.map(({ name }) => name).reverse();
  }
}
