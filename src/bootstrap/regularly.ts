import type { Container } from 'inversify';
import { Repeating } from '../infrastructure/system/repeating.js';
import { OutageLog } from '../infrastructure/typeorm/outage-log.js';

/** What needs the database and is done again and again, `pauseMs` after it has ended; not begun yet. */
export function regularly(
  container: Container,
  what: string,
  pauseMs: number | (() => number),
  task: (stopping: AbortSignal) => Promise<void>,
): Repeating {
  const outages = container.get(OutageLog);
  const noted = async (stopping: AbortSignal) => {
    await task(stopping);
    outages.done();
  };
  return new Repeating(noted, pauseMs, (error) => outages.failed(what, error));
}
