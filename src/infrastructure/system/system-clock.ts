import type { Clock } from '../../application/shared/ports/clock.js';

export class SystemClock implements Clock {
  now(): Date {
    return new Date();
  }
}
