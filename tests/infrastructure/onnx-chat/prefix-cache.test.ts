import type { Past } from '../../../src/infrastructure/onnx-chat/worker/kv-cache.js';
import { PrefixCache } from '../../../src/infrastructure/onnx-chat/worker/prefix-cache.js';

const pastOf = (length: number): Past => ({ cache: { rows: 1, length, arrays: [] }, row: 0, start: 0, length });
const make = (bytes: number) => new PrefixCache({ maxBytes: bytes, bytesPerToken: 10, compact: (past) => past });
const caller = 'usr_a';
const keep = (cache: PrefixCache, ...tokens: number[]) => cache.add({ caller, tokens, past: pastOf(tokens.length) });
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
    const other = { caller, tokens: [1, 2, 3, 4, 5, 6], past: pastOf(4) };
    expect(cache.find({ caller, tokens: [1, 2, 3, 4, 5, 6, 7] }, [other])).toEqual({ ...other.past, length: 4 });
  });

  it('does not give prefixes of one caller to another, and keeps the same prefix for both', () => {
    const cache = make(1_000);
    keep(cache, 1, 2, 3);
    const [tokens, past] = [[1, 2, 3, 4], pastOf(4)];
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
