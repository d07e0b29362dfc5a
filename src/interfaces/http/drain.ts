import { injectable } from 'inversify';
import { DomainError } from '../../domain/shared/errors.js';
import type { Exchange } from './exchange.js';

export class ShuttingDown extends DomainError {
  constructor() {
    super('unavailable', 'shutting_down', 'The service is ending: try again shortly.', { retryAfterSeconds: 1 });
  }
}

/** Whether the service is ending. First it only says so; then what is in flight finishes, and all that is new is refused. */
@injectable()
export class Drain {
  private announced = false;
  private ending = false;

  /** Not ready any more; everything is served as before. */
  announce(): void {
    this.announced = true;
  }

  begin(): void {
    this.announced = true;
    this.ending = true;
  }

  /** Throws ShuttingDown as soon as the end is announced. */
  check(): void {
    if (this.announced) throw new ShuttingDown();
  }

  /** Goes before all that takes time: a call that arrives before the end is in flight, and served. */
  note(exchange: Exchange): void {
    exchange.tooLate = this.ending;
    if (this.ending) exchange.response.setHeader('Connection', 'close');
  }

  /** Refuses a call that arrived too late. */
  guard({ tooLate }: Exchange): void {
    if (tooLate) throw new ShuttingDown();
  }
}
