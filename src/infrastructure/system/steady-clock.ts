/** Returns milliseconds of a monotonic clock, to measure durations. */
export const steadyMs = (): number => performance.now();
