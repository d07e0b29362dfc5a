import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Delay } from '../../../src/application/shared/ports.js';
import type { ManualClock } from './manual-clock.js';

/** For unit tests: a pause takes no time but that of its clock. */
export class MemoryDelay implements Delay {
  constructor(private readonly clock: ManualClock) {}

  async take(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await nextTurn();
    signal.throwIfAborted();
    this.clock.advance(milliseconds);
  }
}
