import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pauses } from '../../../application/shared/ports/pauses.js';
import type { ManualClock } from './manual-clock.js';

/** For unit tests: a pause takes no time but that of its clock. */
export class MemoryPauses implements Pauses {
  constructor(private readonly clock: ManualClock) {}

  async take(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await nextTurn();
    signal.throwIfAborted();
    this.clock.advance(milliseconds);
  }
}
