import type { Stream } from 'node:stream';

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Lifts the limit for answers from a COPY. pg would also keep the timer of that limit running, since it does not notice the
 * end of a COPY.
 */
export function atLeisure<T extends Stream>(copy: T): T {
  const asked: T & { query_timeout?: number; callback?: () => void } = copy;
  asked.query_timeout = LONGEST_MS;
  asked.once('close', () => asked.callback?.());
  return copy;
}
