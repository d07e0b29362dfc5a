import type { CallFilter } from '../../../application/record/ports.js';

/** A span of time is numbered: its first second, shifted by these bits. Each span has 32 of the next shorter ones. */
const BITS = [8, 13, 18] as const;
/** The most spans that one look takes. */
const MOST_SPANS = 32;
/** Each look takes so many times as many spans as the one before. */
const GROWTH = 4;

/** A part of the time of a project's calls. */
export interface Look {
  /** The calls of the look arrived before this second. */
  readonly before: number;
  /** A tsquery that matches the calls of the spans. */
  readonly spans: string;
}

/**
 * Yields parts of the time from the second `to` back to the second `from`, each longer than the one before. The index of
 * words has no order, so a search looks for the newest calls in a short time first. Then a common word does not read all
 * calls that have it.
 */
export function* looks({ projectId }: Pick<CallFilter, 'projectId'>, from: number, to: number): Generator<Look> {
  let [level, count, end] = [0, 1, to];
  while (end >= from) {
    const bits = BITS[level] as number;
    const size = 2 ** bits;
    const last = Math.floor(end / size);
    const first = Math.max(last - count + 1, Math.floor(from / size));
    const spans = Array.from({ length: last - first + 1 }, (_, at) => spanQuery(bits, first + at, projectId));
    yield { before: end + 1, spans: spans.join(' | ') };
    end = first * size - 1;
    count *= GROWTH;
    if (count > MOST_SPANS && level < BITS.length - 1) {
      level++;
      count = Math.max(1, count / MOST_SPANS);
    }
    count = Math.min(count, 4 * MOST_SPANS);
  }
}

/** Returns a tsquery for a span, as the database function `call_spans` names it. */
const spanQuery = (bits: number, number: number, projectId: string): string =>
  `'~${bits}.${number}.${projectId.replaceAll("'", "''")}'`;
