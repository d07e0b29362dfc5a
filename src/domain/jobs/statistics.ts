export interface Share {
  readonly count: number;
  readonly right: number;
  /** `right` of `count`, from 0 to 1. */
  readonly accuracy: number;
  /** Where the true share lies with a probability of 95 %, by Wilson. */
  readonly interval: readonly [low: number, high: number];
}

/** Of the normal distribution, for 95 % in the middle. */
const Z = 1.959963984540054;

/** For at least one. */
export function shareOf(right: number, count: number): Share {
  const accuracy = right / count;
  const square = Z ** 2 / count;
  const middle = (accuracy + square / 2) / (1 + square);
  const half = (Z / (1 + square)) * Math.sqrt((accuracy * (1 - accuracy)) / count + square / (4 * count));
  // Where all are right, or none, rounding must not keep the interval off the end.
  const low = right === 0 ? 0 : middle - half;
  const high = right === count ? 1 : middle + half;
  return { count, right, accuracy, interval: [low, high] };
}

/** The smallest value that so large a part of all (0 to 1) does not exceed: one of the values. Null for none. */
export function percentile(values: readonly number[], part: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null;
}
