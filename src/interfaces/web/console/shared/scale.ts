/** Returns the top of a chart: the smallest value of the form 1, 2 or 5 times a power of ten that is >= `most`. */
export function roundUp(most: number): number {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= most * (1 - 1e-9)) ?? most;
}

type Point = readonly [x: number, y: number];

/** Returns an SVG path through the points. null leaves a gap. */
export function pathOf(points: readonly (Point | null)[]): string {
  return points.map((point, index) => (point ? `${points[index - 1] ? 'L' : 'M'}${placeOf(point)}` : '')).join('');
}

/** Returns an SVG path with a dot for each point between two gaps, because a line would not show it. */
export function dotsOf(points: readonly (Point | null)[]): string {
  const alone = points.filter((_, index) => !points[index - 1] && !points[index + 1]);
  return alone.map((point) => (point ? `M${placeOf(point)}h0` : '')).join('');
}

const placeOf = (point: Point) => point.map((value) => Math.round(value * 10) / 10).join(' ');

/** Returns the index of the time that is nearest to `at`. `times` are ascending. */
export function nearest(times: readonly number[], at: number): number {
  const after = times.findIndex((time) => time >= at);
  if (after === -1) return times.length - 1;
  const before = Math.max(after - 1, 0);
  return at - (times[before] as number) < (times[after] as number) - at ? before : after;
}
