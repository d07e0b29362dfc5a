/** Back-off between attempts. */
import { randomInt } from 'node:crypto';

export interface RestartDelayBounds {
  /** Both in milliseconds. */
  readonly first: number;
  readonly max: number;
}

/**
 * Gives the milliseconds before each new attempt: doubled from `first` up to `max`, with a jitter between half and all of
 * that, so that processes which died together do not come back together.
 */
export class RestartDelays {
  private attempts = 0;

  constructor(private readonly bounds: RestartDelayBounds) {}

  next(): number {
    const most = Math.max(1, Math.min(this.bounds.max, this.bounds.first * 2 ** this.attempts));
    this.attempts += 1;
    return randomInt(Math.ceil(most / 2), Math.floor(most) + 1);
  }

  reset(): void {
    this.attempts = 0;
  }
}
