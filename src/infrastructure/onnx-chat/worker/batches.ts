/** Chooses which sequences take a step together. */

/** The cost of a batch, in bytes that a step moves: `batch` once, and `token` for each token of its rows. */
export interface Costs {
  readonly batch: number;
  readonly token: number;
}

/** The times that a step moves the keys and values of a token: it reads, appends, returns and uses them. Measured. */
const MOVES = 8;

/** Returns the costs of a model. Every batch reads all weights, even a batch of one row. */
export const costsOf = (weightBytes: number, bytesPerToken: number): Costs => ({
  batch: weightBytes,
  token: MOVES * bytesPerToken,
});

/**
 * Divides the rows into batches with the least total cost. A batch pads its rows to the length of the longest row. So
 * one long row makes the short rows expensive, and two batches may cost less than one.
 */
export function batched<T>(rows: readonly T[], lengthOf: (row: T) => number, { batch, token }: Costs): T[][] {
  const sorted = [...rows].sort((a, b) => lengthOf(a) - lengthOf(b));
  // Entry n: the least cost of the n shortest rows, and the first row of their last batch.
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
