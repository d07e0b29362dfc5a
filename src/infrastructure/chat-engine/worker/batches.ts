/** Chooses which sequences take a step together. */

/** The cost of a batch in bytes that are moved: a fixed part, and a part for each token of its rows. */
export interface Costs {
  readonly batch: number;
  readonly token: number;
}

/** Counts how often a step moves the keys and values of a token: it reads, appends, returns and attends to them. Measured. */
const MOVES = 8;

/** Every batch reads all weights, however many rows it has. */
export const costsOf = (weightBytes: number, bytesPerToken: number): Costs => ({
  batch: weightBytes,
  token: MOVES * bytesPerToken,
});

/**
 * Returns the batches with the least cost. All rows of a batch are as long as the longest, so a long row makes each short
 * one expensive, and a second batch may cost less.
 */
export function batched<T>(rows: readonly T[], lengthOf: (row: T) => number, { batch, token }: Costs): T[][] {
  const sorted = [...rows].sort((a, b) => lengthOf(a) - lengthOf(b));
  // For each number of rows: the least cost, and the first row of the last batch.
  const cheapest = [{ cost: 0, from: 0 }];
  for (const [last, row] of sorted.entries()) {
    const options = cheapest.map(({ cost }, from) => ({
      cost: cost + batch + (last + 1 - from) * lengthOf(row) * token,
      from,
    }));
    cheapest.push(options.reduce((best, one) => (one.cost < best.cost ? one : best)));
  }
  const batches: T[][] = [];
  for (let end = sorted.length; end > 0; ) {
    const { from } = cheapest[end] as { from: number };
    batches.unshift(sorted.slice(from, end));
    end = from;
  }
  return batches;
}
