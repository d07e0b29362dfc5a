/** Returns a round number (1, 2 or 5 times a power of ten) that is at least `most`, for the top of a chart. */
export function roundUp(most: number): number {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= most * (1 - 1e-9)) ?? most;
}

/** Returns the lines of an SVG path through the points. A null leaves a gap; a point between gaps is a short stroke. */
export function pathOf(points: readonly (readonly [x: number, y: number] | null)[]): string {
  let path = '';
  for (const [index, point] of points.entries()) {
    if (!point) continue;
    const [x, y] = point.map((value) => Math.round(value * 10) / 10) as [number, number];
    const alone = !points[index - 1] && !points[index + 1];
    path += points[index - 1] ? `L${x} ${y}` : `M${x} ${y}${alone ? 'h0' : ''}`;
  }
  return path;
}

/** Returns the index of the time that is nearest to `at`. `times` are ascending. */
export function nearest(times: readonly number[], at: number): number {
  const after = times.findIndex((time) => time >= at);
  if (after === -1) return times.length - 1;
  const before = Math.max(after - 1, 0);
  return at - (times[before] as number) < (times[after] as number) - at ? before : after;
}
