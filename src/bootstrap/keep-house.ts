import { randomInt } from 'node:crypto';
import { RemoveLeftovers } from '../application/operations/remove-leftovers.js';
import type { Log } from '../application/shared/ports/log.js';
import { Repeating } from '../infrastructure/system/repeating.js';
import type { Parts } from './container.js';

const HOUR_MS = 60 * 60 * 1000;
const GRACE_MS = 2_000;

/** Removes what has had its time, now and every hour or so, at other moments than other processes; answers how to stop. */
export function keepHouse(parts: Parts, log: Log): () => Promise<void> {
  const repeating = new Repeating(
    (stopping) => parts.get(RemoveLeftovers).execute(stopping),
    () => randomInt(HOUR_MS / 2, HOUR_MS * 1.5),
    (error) => log.error('removal of leftovers', { error }),
  );
  repeating.start();
  return () => repeating.stop(GRACE_MS);
}
