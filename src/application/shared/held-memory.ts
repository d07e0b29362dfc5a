import { type Reservation, SMALL_BYTES } from './memory-budget.js';

const STEP = 1024 * 1024;
const SMALL_STEP = 8 * 1024;

/** The memory of what a call collects bit by bit, beside what its reservation holds at the beginning. */
export class HeldMemory {
  private readonly before: number;
  private reserved = 0;

  constructor(private readonly memory: Pick<Reservation, 'growBytes' | 'size'>) {
    this.before = memory.size;
  }

  /** Reserves memory for so many bytes, in steps. Throws `busy` after a long wait. */
  async reach(bytes: number): Promise<void> {
    if (bytes <= this.reserved) return;
    const step = bytes < SMALL_BYTES ? SMALL_STEP : STEP;
    this.reserved = Math.ceil(bytes / step) * step;
    await this.memory.growBytes(this.before + this.reserved);
  }
}
