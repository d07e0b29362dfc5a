import { randomInt } from 'node:crypto';
import type { Container } from 'inversify';
import { ExpiredDataService } from '../application/operations/expired-data.service.js';
import { regularly } from './regularly.js';

const HOUR_MS = 60 * 60 * 1000;
const GRACE_MS = 2_000;

/** Removes expired data now and about every hour, at other moments than other instances. Returns the function that stops it. */
export function startMaintenance(container: Container): () => Promise<void> {
  const pause = () => randomInt(HOUR_MS / 2, HOUR_MS * 1.5);
  const remove = (stopping: AbortSignal) => container.get(ExpiredDataService).remove(stopping);
  const repeating = regularly(container, 'removal of expired data', pause, remove);
  repeating.start();
  return () => repeating.stop(GRACE_MS);
}
