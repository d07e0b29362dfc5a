import type { Clock } from '../../../application/shared/ports.js';

/** Milliseconds that only grow: where the clock is set back, time stands still for one reading and then goes on. */
export class SteadyTime {
  private elapsed = 0;
  private lastRead: number;

  constructor(private readonly clock: Clock) {
    this.lastRead = clock.now().getTime();
  }

  now(): number {
    const read = this.clock.now().getTime();
    this.elapsed += Math.max(0, read - this.lastRead);
    this.lastRead = read;
    return this.elapsed;
  }
}
