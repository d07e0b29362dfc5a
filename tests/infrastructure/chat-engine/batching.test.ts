import { batched, costsOf } from '../../../src/infrastructure/chat-engine/worker/scheduler.js';

const groups = (lengths: number[], step: number) => batched(lengths, (length) => length, { batch: step, token: 1 });

describe('the batches of a step', () => {
  it('are one, where the padding costs less than a second step', () => {
    expect(groups([30, 10, 20], 100)).toEqual([[10, 20, 30]]);
    expect(groups([4_000, 50, 50], 10_000)).toEqual([[50, 50, 4_000]]);
  });

  it('are several, where it costs more', () => {
    expect(groups([50, 4_000, 60, 40, 3_900], 1_000)).toEqual([
      [40, 50, 60],
      [3_900, 4_000],
    ]);
    expect(groups([1, 100, 10_000], 10)).toEqual([[1], [100], [10_000]]);
  });

  it('are the cheapest of all that there could be', () => {
    const lengths = [7, 12, 30, 31, 90, 200, 210];
    const cost = (all: number[][], step: number) =>
      all.reduce((sum, group) => sum + step + group.length * Math.max(...group), 0);
    for (const step of [1, 20, 60, 150, 500, 2_000]) {
      const ways = Array.from({ length: 2 ** (lengths.length - 1) }, (_, cuts) => {
        const all: number[][] = [[]];
        for (const [i, length] of lengths.entries()) {
          all.at(-1)?.push(length);
          if (cuts & (2 ** i) && i < lengths.length - 1) all.push([]);
        }
        return cost(all, step);
      });
      expect(cost(groups(lengths, step), step)).toBe(Math.min(...ways));
    }
  });

  it('keep those of one length in their order, and are none of nobody', () => {
    const rows = ['b', 'a', 'c'];
    expect(batched(rows, () => 5, { batch: 1, token: 0 })).toEqual([rows]);
    expect(groups([], 1)).toEqual([]);
  });

  it('weigh the weights against what is kept of tokens', () => {
    expect(costsOf(1_000, 10)).toEqual({ batch: 1_000, token: 80 });
  });
});
