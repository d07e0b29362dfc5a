import type { KvLayout } from './kv-layout.js';

/** Half floats are kept as their bits. */
export type KvArray = Float32Array | Uint16Array;

/**
 * Keys and values of several sequences, as a step gives them: an array for each tensor of the layout, of the shape
 * [rows, heads, length, size of a head]. Nobody writes into one that is made.
 */
export interface KvCache {
  readonly rows: number;
  readonly length: number;
  readonly arrays: readonly KvArray[];
}

/** What the model keeps of one sequence: a stretch of a row. */
export interface Past {
  readonly cache: KvCache;
  readonly row: number;
  readonly start: number;
  readonly length: number;
}

/** Where the shorter rows of a batch are filled up. */
export type Padding = 'left' | 'right';

/** Before the first token. */
export const noPast = ({ tensors }: KvLayout): Past => ({
  cache: { rows: 1, length: 0, arrays: tensors.map(({ type }) => arrayOf(type, 0)) },
  row: 0,
  start: 0,
  length: 0,
});

/**
 * A row for each of the pasts, as long as the longest, with nothing but zeros in the padding. Copies only where the pasts
 * aren't just that already, which they are as long as the same sequences go on together.
 */
export function packed(layout: KvLayout, pasts: readonly Past[], padding: Padding): KvCache {
  const length = Math.max(...pasts.map((past) => past.length));
  const at = (past: Past) => (padding === 'left' ? length - past.length : 0);
  const [{ cache }] = pasts as [Past];
  const inPlace = (past: Past, row: number) => past.cache === cache && past.row === row && past.start === at(past);
  if (cache.rows === pasts.length && cache.length === length && pasts.every(inPlace)) return cache;

  const arrays = layout.tensors.map(({ type, heads, headSize }, tensor) => {
    const target = arrayOf(type, pasts.length * heads * length * headSize);
    for (const [row, past] of pasts.entries()) {
      const source = past.cache.arrays[tensor] as KvArray;
      for (let head = 0; head < heads; head++) {
        const from = ((past.row * heads + head) * past.cache.length + past.start) * headSize;
        const to = ((row * heads + head) * length + at(past)) * headSize;
        target.set(source.subarray(from, from + past.length * headSize), to);
      }
    }
    return target;
  });
  return { rows: pasts.length, length, arrays };
}

/** The same past without the rest of its cache. */
export const alone = (layout: KvLayout, past: Past): Past => ({
  cache: packed(layout, [past], 'left'),
  row: 0,
  start: 0,
  length: past.length,
});

const arrayOf = (type: KvLayout['tensors'][number]['type'], size: number): KvArray =>
  type === 'float16' ? new Uint16Array(size) : new Float32Array(size);
