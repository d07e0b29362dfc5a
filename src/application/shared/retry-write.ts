import { StorageUnavailable } from '../../domain/shared/errors.js';

/** An attempt is lost only if another call has written. So this is more than the calls that write one object at once. */
const ATTEMPTS = 64;

/**
 * Repeats `attempt` until it does not return false, and returns its result. An attempt reads an object and writes its
 * next state. It returns false if another call wrote the object in between. Throws what `attempt` throws. Throws the
 * reason of `signal` instead of an attempt after the first if the signal is aborted. Throws StorageUnavailable after 64
 * lost attempts.
 */
export async function retryWrite<T extends object | true>(
  signal: AbortSignal,
  attempt: () => Promise<T | false>,
): Promise<T> {
  for (let left = ATTEMPTS; left > 0; left--) {
    const written = await attempt();
    if (written !== false) return written;
    signal.throwIfAborted();
  }
  throw new StorageUnavailable('too many changes of the same thing at once');
}
