import { dotsOf, nearest, pathOf, roundUp } from '../../../src/interfaces/web/console/shared/scale.js';

describe('the scale of a chart', () => {
  it.each([
    [0, 1],
    [0.03, 0.05],
    [1, 1],
    [1.2, 2],
    [37, 50],
    [50, 50],
    [712, 1000],
  ])('for a highest value of %d ends at %d', (most, top) => expect(roundUp(most)).toBeCloseTo(top, 10));

  it('draws lines between neighbours, gaps, and single points', () => {
    const points = [[0, 1], [1, 2.04], null, [3, 4], null] as const;
    expect(pathOf(points)).toBe('M0 1L1 2M3 4');
    expect(dotsOf(points)).toBe('M3 4h0');
    expect(pathOf([])).toBe('');
  });

  it('finds the nearest time', () => {
    const times = [10, 20, 30];
    expect([-5, 14, 16, 25, 99].map((at) => nearest(times, at))).toEqual([0, 0, 1, 2, 2]);
  });
});
