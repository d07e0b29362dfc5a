/** What work costs, in bytes that are moved: what a step takes at any rate, and each token of what its rows have seen. */
export interface Costs {
  readonly step: number;
  readonly token: number;
}

/** How often the keys and values of a token are moved in a step: read, appended to, given out, attended to. As measured. */
const MOVES = 8;

/** A step reads all weights, however many rows it has. */
export const costsOf = (weightBytes: number, bytesPerToken: number): Costs => ({
  step: weightBytes,
  token: MOVES * bytesPerToken,
});

/**
 * Who shares a step with whom. In one step all rows are as long as the longest, so that a long one among many short ones
 * would make each of them expensive; a second step for the others costs less.
 */
export function grouped<T>(rows: readonly T[], lengthOf: (row: T) => number, { step, token }: Costs): T[][] {
  const sorted = [...rows].sort((a, b) => lengthOf(a) - lengthOf(b));
  // For each number of rows, the least that they can cost, and where the last of their groups begins.
  const cheapest = [{ cost: 0, from: 0 }];
  for (const [last, row] of sorted.entries()) {
    const options = cheapest.map(({ cost }, from) => ({
      cost: cost + step + (last + 1 - from) * lengthOf(row) * token,
      from,
    }));
    cheapest.push(options.reduce((best, one) => (one.cost < best.cost ? one : best)));
  }
  const groups: T[][] = [];
  for (let end = sorted.length; end > 0; ) {
    const { from } = cheapest[end] as { from: number };
    groups.unshift(sorted.slice(from, end));
    end = from;
  }
  return groups;
}
