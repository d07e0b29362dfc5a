import type { InferenceSession } from 'onnxruntime-node';
import {
  bytesPerToken,
  compacted,
  type KvCache,
  type KvLayout,
  kvLayoutOf,
  noPast,
  type Past,
  packed,
} from '../../../src/infrastructure/onnx-chat/worker/kv-cache.js';
import { PrefixCache } from '../../../src/infrastructure/onnx-chat/worker/prefix-cache.js';

const names = { input: '', output: '' };
const layout: KvLayout = {
  tensors: [
    { ...names, type: 'float32', heads: 2, headSize: 1 },
    { ...names, type: 'float16', heads: 1, headSize: 2 },
  ],
  takesMask: true,
  takesPositions: true,
};

/** Makes a cache with a row for each list of tokens. Each head stores a token as other numbers. 0 is padding. */
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
  it('are packed into rows of one length, with zeros on the left or on the right', () => {
    const pasts = [pastOf(pair, 1), pastOf(single), pastOf(pair, 0, 1, 2)];
    expect(packed(layout, pasts, 'left')).toEqual(cacheOf([0, 4, 5, 6], [7, 8, 9, 10], [0, 0, 2, 3]));
    expect(packed(layout, pasts, 'right')).toEqual(cacheOf([4, 5, 6, 0], [7, 8, 9, 10], [2, 3, 0, 0]));
  });

  it('are not copied while the same sequences continue together', () => {
    const padded = packed(layout, [pastOf(pair), pastOf(single)], 'left');
    const rows = [pastOf(padded, 0, 1, 3), pastOf(padded, 1)];
    expect(packed(layout, rows, 'left')).toBe(padded);
    expect(packed(layout, rows.toReversed(), 'left')).toEqual(cacheOf([7, 8, 9, 10], [0, 1, 2, 3]));
    expect(packed(layout, rows, 'right')).toEqual(cacheOf([1, 2, 3, 0], [7, 8, 9, 10]));
    expect(packed(layout, [pastOf(padded, 1)], 'left')).toEqual(single);
    expect(packed(layout, [pastOf(padded, 0, 1, 3)], 'left')).toEqual(cacheOf([1, 2, 3]));
  });

  it('become shorter when the longest sequence has left', () => {
    const both = packed(layout, [pastOf(single), pastOf(cacheOf([1, 2]))], 'right');
    expect(packed(layout, [pastOf(both, 1, 0, 2)], 'right')).toEqual(cacheOf([1, 2]));
  });

  it('are copied into their own memory when they are cut or leave a batch', () => {
    expect(compacted(layout, pastOf(pair, 1, 0, 2))).toEqual(pastOf(cacheOf([4, 5])));
    expect(compacted(layout, pastOf(pair, 1, 2, 1))).toEqual(pastOf(cacheOf([6])));
    expect(compacted(layout, pastOf(single)).cache).toBe(single);
  });

  it('are empty at the beginning', () => {
    expect(noPast(layout)).toEqual(pastOf(cacheOf([])));
  });

  it('have a number of bytes for each token', () => {
    expect(bytesPerToken(layout)).toBe(2 * 4 + 2 * 2);
  });
});

type Input = InferenceSession.ValueMetadata;
const tensor = (name: string, type: string, shape: readonly (number | string)[]): Input =>
  ({ name, isTensor: true, type, shape }) as Input;

const tokens = tensor('input_ids', 'int64', ['batch', 'sequence']);
const mask = tensor('attention_mask', 'int64', ['batch', 'total']);
const positions = tensor('position_ids', 'int64', ['batch', 'sequence']);
const keys = tensor('past_key_values.0.key', 'float32', ['batch', 2, 'past', 32]);
const values = tensor('past_key_values.0.value', 'float16', ['batch', 4, 'past', 16]);

const layoutOf = (inputs: readonly Input[], outputNames = ['logits', 'present.0.key', 'present.0.value']) =>
  kvLayoutOf({ inputNames: inputs.map(({ name }) => name), inputMetadata: inputs, outputNames }, 'onnx/model.onnx');

describe('the layout of a cache', () => {
  it('is read from the session, tensor by tensor', () => {
    expect(layoutOf([tokens, mask, positions, keys, values])).toEqual({
      takesMask: true,
      takesPositions: true,
      tensors: [
        { input: 'past_key_values.0.key', output: 'present.0.key', type: 'float32', heads: 2, headSize: 32 },
        { input: 'past_key_values.0.value', output: 'present.0.value', type: 'float16', heads: 4, headSize: 16 },
      ],
    });
    expect(layoutOf([tokens, keys])).toMatchObject({ takesMask: false, takesPositions: false });
  });

  it.each<[string, () => unknown]>([
    ['has no input input_ids', () => layoutOf([mask, keys])],
    ['has no key/value inputs (past_key_values.*)', () => layoutOf([tokens, mask])],
    ['needs the input use_cache_branch', () => layoutOf([tokens, keys, tensor('use_cache_branch', 'bool', [1])])],
    ['has no output logits', () => layoutOf([tokens, keys], ['present.0.key'])],
    ['takes past_key_values.0.key but gives no present.0.key', () => layoutOf([tokens, keys], ['logits'])],
    [
      'has the input past_key_values.0.key of a type',
      () => layoutOf([tokens, tensor('past_key_values.0.key', 'int8', ['batch', 2, 'past', 32])]),
    ],
    [
      'does not fix the shape',
      () => layoutOf([tokens, tensor('past_key_values.0.key', 'float32', ['b', 'h', 'p', 'd'])]),
    ],
  ])('is refused if the model %s', (problem, make) => {
    expect(make).toThrow(`weights: onnx/model.onnx ${problem}`);
  });
});

const pastWith = (length: number): Past => ({ cache: { rows: 1, length, arrays: [] }, row: 0, start: 0, length });
const make = (bytes: number) => new PrefixCache({ maxBytes: bytes, bytesPerToken: 10, compact: (past) => past });
const caller = 'usr_a';
const keep = (cache: PrefixCache, ...tokens: number[]) => cache.add({ caller, tokens, past: pastWith(tokens.length) });
const found = (cache: PrefixCache, ...tokens: number[]) => cache.find({ caller, tokens }, [])?.length ?? 0;

describe('the cache of prefixes', () => {
  it('finds the longest common beginning, without the last token', () => {
    const cache = make(1_000);
    keep(cache, 1, 2, 3, 4);
    keep(cache, 1, 2, 9);
    expect(found(cache, 1, 2, 3, 4, 5)).toBe(4);
    expect(found(cache, 1, 2, 3, 4)).toBe(3);
    expect(found(cache, 1, 2, 9, 9)).toBe(3);
    expect(found(cache, 1, 2, 7, 7)).toBe(2);
    expect(found(cache, 2, 2, 3, 4)).toBe(0);
    expect(found(cache, 1)).toBe(0);
  });

  it('also finds the beginning of a running sequence, up to its present length', () => {
    const cache = make(1_000);
    keep(cache, 1, 2);
    const other = { caller, tokens: [1, 2, 3, 4, 5, 6], past: pastWith(4) };
    expect(cache.find({ caller, tokens: [1, 2, 3, 4, 5, 6, 7] }, [other])).toEqual({ ...other.past, length: 4 });
  });

  it('does not give prefixes of one caller to another, and keeps the same prefix for both', () => {
    const cache = make(1_000);
    keep(cache, 1, 2, 3);
    const [tokens, past] = [[1, 2, 3, 4], pastWith(4)];
    expect(cache.find({ caller: 'usr_b', tokens }, [{ caller, tokens, past }])).toBeNull();
    cache.add({ caller: 'usr_b', tokens, past });
    expect(found(cache, 1, 2, 3, 4, 5)).toBe(3);
    expect(cache.find({ caller: 'usr_b', tokens: [...tokens, 5] }, [])?.length).toBe(4);
  });

  it('drops the least recently used prefixes when its bytes are used up', () => {
    const cache = make(60);
    keep(cache, 1, 1);
    keep(cache, 2, 2);
    keep(cache, 3, 3);
    expect(found(cache, 1, 1, 0)).toBe(2);
    keep(cache, 4, 4);
    expect([1, 2, 3, 4].map((token) => found(cache, token, token, 0))).toEqual([2, 0, 2, 2]);
    keep(cache, 5, 5, 5, 5, 5);
    expect([1, 2, 3, 4, 5].map((token) => found(cache, token, token, 0))).toEqual([0, 0, 0, 0, 2]);
  });

  it('keeps at most a thousand prefixes, however small they are', () => {
    const cache = make(1_000_000);
    for (let token = 0; token <= 1_000; token++) keep(cache, token, token);
    expect([0, 1, 1_000].map((token) => found(cache, token, token, 0))).toEqual([0, 2, 2]);
  });

  it('does not keep a prefix that is larger than the whole cache', () => {
    const cache = make(30);
    keep(cache, 1, 1, 1);
    keep(cache, 2, 2, 2, 2);
    expect(found(cache, 1, 1, 1, 1)).toBe(3);
    expect(found(cache, 2, 2, 2, 2)).toBe(0);
    const none = make(0);
    keep(none, 1);
    expect(found(none, 1, 1)).toBe(0);
  });

  it('does not keep the beginning of a kept prefix, and replaces a prefix by its continuation', () => {
    const cache = make(60);
    keep(cache, 1, 2, 3);
    keep(cache, 5, 5);
    keep(cache, 1, 2);
    keep(cache, 1, 2, 3);
    // These four tokens and the two 5s fit only if no token is kept twice.
    keep(cache, 1, 2, 3, 4);
    expect(found(cache, 5, 5, 5)).toBe(2);
    expect(found(cache, 1, 2, 3, 4, 5)).toBe(4);
  });
});
