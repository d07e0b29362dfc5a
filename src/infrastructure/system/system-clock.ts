import { injectable } from 'inversify';
import type { Clock } from '../../application/shared/ports.js';

@injectable()
export class SystemClock implements Clock {
  now(): Date {
    return new Date();
  }
}
