/** The KV cache: the attention keys and values of the tokens that the model has read. */
import type { InferenceSession } from 'onnxruntime-node';
import { decodeHalves } from '../../onnx/onnx-runtime.js';
import { BrokenModel } from './model-files.js';

/** 16-bit floats are kept as their bits. */
export type KvArray = Float32Array | Uint16Array;

/** One tensor of the cache: the names of the model's input and output for it, and its shape. */
interface KvTensor {
  readonly input: string;
  readonly output: string;
  readonly type: 'float32' | 'float16';
  readonly heads: number;
  readonly headSize: number;
}

export interface KvLayout {
  readonly tensors: readonly KvTensor[];
  readonly takesMask: boolean;
  readonly takesPositions: boolean;
}

/**
 * The keys and values of several sequences, as the model returns them. There is one array for each tensor of the
 * layout, with the shape [rows, heads, length, head size]. A cache never changes.
 */
export interface KvCache {
  readonly rows: number;
  readonly length: number;
  readonly arrays: readonly KvArray[];
}

/** The keys and values of one sequence: a part of one row of a cache. */
export interface Past {
  readonly cache: KvCache;
  readonly row: number;
  readonly start: number;
  readonly length: number;
}

/** The side on which shorter rows of a batch are filled up. */
export type Padding = 'left' | 'right';

const PAST = 'past_key_values.';
const PRESENT = 'present.';
const TOKENS = 'input_ids';
const OPTIONAL = ['attention_mask', 'position_ids'];

type SessionShape = Pick<InferenceSession, 'inputNames' | 'inputMetadata' | 'outputNames'>;

/**
 * Reads the layout from the session, because the config.json of some exports is wrong. Throws BrokenModel if the model
 * has no cache, or needs an unknown input.
 */
export function kvLayoutOf(session: SessionShape, file: string): KvLayout {
  const wrong = (problem: string) => new BrokenModel('weights', `${file} ${problem}`);
  const names = session.inputNames;
  const unknown = names.find((name) => name !== TOKENS && !OPTIONAL.includes(name) && !name.startsWith(PAST));
  const past = session.inputMetadata.filter(({ name }) => name.startsWith(PAST));
  if (!names.includes(TOKENS)) throw wrong(`has no input ${TOKENS}: it is not a language model`);
  if (past.length === 0) throw wrong(`has no key/value inputs (${PAST}*): export it with its cache`);
  if (unknown) throw wrong(`needs the input ${unknown}, which is not supported`);
  if (!session.outputNames.includes('logits')) throw wrong('has no output logits');
  const tensors = past.map((metadata): KvTensor => {
    const input = metadata.name;
    const output = input.replace(PAST, PRESENT);
    if (!session.outputNames.includes(output)) throw wrong(`takes ${input} but gives no ${output}`);
    if (!metadata.isTensor || (metadata.type !== 'float32' && metadata.type !== 'float16'))
      throw wrong(`has the input ${input} of a type that is not supported`);
    const [, heads, , headSize] = metadata.shape;
    if (typeof heads !== 'number' || typeof headSize !== 'number') throw wrong(`does not fix the shape of ${input}`);
    return { input, output, type: metadata.type, heads, headSize };
  });
  const [takesMask = false, takesPositions = false] = OPTIONAL.map((name) => names.includes(name));
  return { tensors, takesMask, takesPositions };
}

export const bytesPerToken = ({ tensors }: KvLayout): number =>
  tensors.reduce((sum, { type, heads, headSize }) => sum + heads * headSize * (type === 'float16' ? 2 : 4), 0);

export const noPast = ({ tensors }: KvLayout): Past => ({
  cache: { rows: 1, length: 0, arrays: tensors.map(({ type }) => arrayOf(type, 0)) },
  row: 0,
  start: 0,
  length: 0,
});

/**
 * Returns a cache with a row for each past. Pads all rows with zeros to the length of the longest. Copies nothing if
 * the pasts already are the rows of such a cache, as in a batch with the same sequences as in the step before.
 */
export function packed(layout: KvLayout, pasts: readonly Past[], padding: Padding): KvCache {
  const length = Math.max(...pasts.map((past) => past.length));
  const startOf = (past: Past) => (padding === 'left' ? length - past.length : 0);
  const [{ cache }] = pasts as [Past];
  const inPlace = (past: Past, row: number) => past.cache === cache && past.row === row && past.start === startOf(past);
  if (cache.rows === pasts.length && cache.length === length && pasts.every(inPlace)) return cache;

  const arrays = layout.tensors.map(({ type, heads, headSize }, tensor) => {
    const target = arrayOf(type, pasts.length * heads * length * headSize);
    for (const [row, past] of pasts.entries()) {
      const source = past.cache.arrays[tensor] as KvArray;
      for (let head = 0; head < heads; head++) {
        const from = ((past.row * heads + head) * past.cache.length + past.start) * headSize;
        const to = ((row * heads + head) * length + startOf(past)) * headSize;
        target.set(source.subarray(from, from + past.length * headSize), to);
      }
    }
    return target;
  });
  return { rows: pasts.length, length, arrays };
}

/** Returns the same past in its own memory, so that the rest of its cache can be freed. */
export const compacted = (layout: KvLayout, past: Past): Past => ({
  cache: packed(layout, [past], 'left'),
  row: 0,
  start: 0,
  length: past.length,
});

/**
 * Returns a copy of the past with tiny changes: each number by 1e-5 of its size, up or down. 16 bits can't hold such a
 * change, so there one number of 61 changes by its last bit.
 */
export function nudged(past: Past): Past {
  const arrays = past.cache.arrays.map((array) =>
    array instanceof Uint16Array
      ? array.map((bits, i) => (i % 61 === 0 ? bits ^ 1 : bits))
      : array.map((number, i) => number * (i % 3 === 0 ? 1 + 1e-5 : 1 - 1e-5)),
  );
  return { ...past, cache: { ...past.cache, arrays } };
}

/** Returns the numbers of the tokens after the first `skipped`: one array for each tensor of the layout. */
export const keysAndValues = (layout: KvLayout, past: Past, skipped: number): Float32Array[] =>
  compacted(layout, { ...past, start: past.start + skipped, length: past.length - skipped }).cache.arrays.map(
    numbersIn,
  );

/** Returns the array as numbers. */
export const numbersIn = (array: KvArray): Float32Array => (array instanceof Uint16Array ? decodeHalves(array) : array);

const arrayOf = (type: KvTensor['type'], size: number): KvArray =>
  type === 'float16' ? new Uint16Array(size) : new Float32Array(size);
