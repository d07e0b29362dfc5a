import type { Stream } from 'node:stream';

/** The longest that a timer can be set for. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Lets a COPY take its time, though the URL may set a limit for answers. That limit is a timer which pg would leave to
 * run, since it never hears that a COPY is over.
 */
export function atLeisure<T extends Stream>(copy: T): T {
  const asked: T & { query_timeout?: number; callback?: () => void } = copy;
  asked.query_timeout = LONGEST_MS;
  asked.once('close', () => asked.callback?.());
  return copy;
}
