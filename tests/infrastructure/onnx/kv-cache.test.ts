import {
  alone,
  type KvCache,
  noPast,
  type Past,
  packed,
} from '../../../src/infrastructure/chat-engine/worker/kv-cache.js';
import { bytesPerToken, type KvLayout } from '../../../src/infrastructure/chat-engine/worker/kv-layout.js';

const names = { input: '', output: '' };
const layout: KvLayout = {
  tensors: [
    { ...names, type: 'float32', heads: 2, headSize: 1 },
    { ...names, type: 'float16', heads: 1, headSize: 2 },
  ],
  takesMask: true,
  takesPositions: true,
};

/** A row for each list of tokens, which each head keeps in its own way. 0 is padding. */
const cacheOf = (...rows: number[][]): KvCache => ({
  rows: rows.length,
  length: rows[0]?.length as number,
  arrays: [
    Float32Array.from(rows.flatMap((row) => [...row, ...row.map((token) => token && -token)])),
    Uint16Array.from(rows.flatMap((row) => row.flatMap((token) => [token, token && token + 100]))),
  ],
});
const pastOf = (cache: KvCache, row = 0, start = 0, length = cache.length): Past => ({ cache, row, start, length });

const pair = cacheOf([1, 2, 3], [4, 5, 6]);
const single = cacheOf([7, 8, 9, 10]);

describe('caches of keys and values', () => {
  it('are packed into rows of one length, filled up with zeros on either side', () => {
    const pasts = [pastOf(pair, 1), pastOf(single), pastOf(pair, 0, 1, 2)];
    expect(packed(layout, pasts, 'left')).toEqual(cacheOf([0, 4, 5, 6], [7, 8, 9, 10], [0, 0, 2, 3]));
    expect(packed(layout, pasts, 'right')).toEqual(cacheOf([4, 5, 6, 0], [7, 8, 9, 10], [2, 3, 0, 0]));
  });

  it('are not copied as long as the same sequences go on together', () => {
    const padded = packed(layout, [pastOf(pair), pastOf(single)], 'left');
    const rows = [pastOf(padded, 0, 1, 3), pastOf(padded, 1)];
    expect(packed(layout, rows, 'left')).toBe(padded);
    expect(packed(layout, rows.toReversed(), 'left')).toEqual(cacheOf([7, 8, 9, 10], [0, 1, 2, 3]));
    expect(packed(layout, rows, 'right')).toEqual(cacheOf([1, 2, 3, 0], [7, 8, 9, 10]));
    expect(packed(layout, [pastOf(padded, 1)], 'left')).toEqual(single);
    expect(packed(layout, [pastOf(padded, 0, 1, 3)], 'left')).toEqual(cacheOf([1, 2, 3]));
  });

  it('are made short again when the longest has left', () => {
    const both = packed(layout, [pastOf(single), pastOf(cacheOf([1, 2]))], 'right');
    expect(packed(layout, [pastOf(both, 1, 0, 2)], 'right')).toEqual(cacheOf([1, 2]));
  });

  it('are cut, and taken out of a batch, into memory of their own', () => {
    expect(alone(layout, pastOf(pair, 1, 0, 2))).toEqual(pastOf(cacheOf([4, 5])));
    expect(alone(layout, pastOf(pair, 1, 2, 1))).toEqual(pastOf(cacheOf([6])));
    expect(alone(layout, pastOf(single)).cache).toBe(single);
  });

  it('begin with nothing', () => {
    expect(noPast(layout)).toEqual(pastOf(cacheOf([])));
  });

  it('weigh so much for each token', () => {
    expect(bytesPerToken(layout)).toBe(2 * 4 + 2 * 2);
  });
});
