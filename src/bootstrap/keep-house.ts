import { randomInt } from 'node:crypto';
import type { Container } from 'inversify';
import { RemoveLeftovers } from '../application/operations/remove-leftovers.js';
import { regularly } from './regularly.js';

const HOUR_MS = 60 * 60 * 1000;
const GRACE_MS = 2_000;

/** Removes what has had its time, now and every hour or so, at other moments than other processes; answers how to stop. */
export function keepHouse(container: Container): () => Promise<void> {
  const pause = () => randomInt(HOUR_MS / 2, HOUR_MS * 1.5);
  const remove = (stopping: AbortSignal) => container.get(RemoveLeftovers).execute(stopping);
  const repeating = regularly(container, 'removal of leftovers', pause, remove);
  repeating.start();
  return () => repeating.stop(GRACE_MS);
}
