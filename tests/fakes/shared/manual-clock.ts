import type { Clock } from '../../../src/application/shared/ports.js';

/** Stands still until a test sets or advances it. */
export class ManualClock implements Clock {
  private time: number;

  constructor(start: Date = new Date(Date.UTC(2026, 0, 1))) {
    this.time = start.getTime();
  }

  now(): Date {
    return new Date(this.time);
  }

  /** Advances the clock and returns at once. */
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
