import type { Clock } from '../../../src/application/shared/ports.js';

/** For unit tests: stands still until it is set. */
export class ManualClock implements Clock {
  private time: number;

  constructor(start: Date = new Date(Date.UTC(2026, 0, 1))) {
    this.time = start.getTime();
  }

  now(): Date {
    return new Date(this.time);
  }

  /** Takes no time of its own: the clock moves on. */
  async pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.advance(milliseconds);
  }

  set(time: Date): void {
    this.time = time.getTime();
  }

  advance(milliseconds: number): void {
    this.time += milliseconds;
  }
}
