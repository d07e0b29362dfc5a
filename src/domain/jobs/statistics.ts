export interface Share {
  readonly count: number;
  readonly right: number;
  /** `right / count`. */
  readonly accuracy: number;
  /** Wilson's 95 % confidence interval. */
  readonly interval: readonly [low: number, high: number];
}

/** Quantile of the normal distribution for a 95 % interval. */
const Z = 1.959963984540054;

/** Requires `count` to be at least 1. */
export function shareOf(right: number, count: number): Share {
  const accuracy = right / count;
  const square = Z ** 2 / count;
  const middle = (accuracy + square / 2) / (1 + square);
  const half = (Z / (1 + square)) * Math.sqrt((accuracy * (1 - accuracy)) / count + square / (4 * count));
  // Rounding must not move the interval off 0 or 1 if none or all are right.
  const low = right === 0 ? 0 : middle - half;
  const high = right === count ? 1 : middle + half;
  return { count, right, accuracy, interval: [low, high] };
}

/** Returns the nearest-rank percentile for `part` from 0 to 1, or null without values. */
export function percentile(values: readonly number[], part: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null;
}
