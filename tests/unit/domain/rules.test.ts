import { createHash } from 'node:crypto';
import { canonical, type Json } from '../../../src/domain/workspace/json.js';
import { canonicalUuid } from '../../../src/domain/workspace/model.js';

describe('canonical JSON', () => {
  it('is the same whatever the order of keys, and tells values apart', () => {
    expect(canonical({ b: [1, { d: null, c: 'x' }], a: true })).toBe(
      canonical({ a: true, b: [1, { c: 'x', d: null }] }),
    );
    const different: Json[] = [
      { a: 1 },
      { a: '1' },
      { a: [1] },
      { a: null },
      {},
      { b: 1 },
      { a: { a: 1 } },
      { 'a":1,"b': 2 },
    ];
    expect(new Set(different.map((value) => canonical(value))).size).toBe(different.length);
  });

  it('is the same text for ever: what was hashed once has its digest', () => {
    const value: Json = [
      {
        id: 'a',
        n: { '10': 1, '9': [1.5e-7, -0, 1e21], '': {}, ü: '\u2028\u0001"🦆' },
        l: [[], {}, [null, true, false], [[1, { b: 1, a: 2 }]]],
      },
      Array.from({ length: 3000 }, (_, n) => n / 7),
      Array.from({ length: 3000 }, (_, n) => (n % 3 ? {} : { b: n, a: [n, 'x'] }) as Json),
      { big: Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`k${(n * 7919) % 3000}`, n % 2 ? n : [n]])) },
    ];
    expect(createHash('sha256').update(canonical(value)).digest('hex')).toBe(
      'e5fd72e4d7be334bcf044b6c3fbeaef6b99905eb4ca605e02ea1e6ca79797869',
    );
  });
});

describe('a UUID', () => {
  const uuid = '6f1c0a52-3c1e-4a57-9d0e-0f8f2f1f7a11';
  it.each([uuid, uuid.toUpperCase(), uuid.replaceAll('-', ''), `{${uuid}}`, `urn:uuid:${uuid}`, ` ${uuid} `])(
    'is read as %s',
    (text) => {
      expect(canonicalUuid(text)).toBe(uuid);
    },
  );
  it.each(['', 'x', uuid.slice(1), `${uuid}0`, `{${uuid}`, uuid.replace('f', 'g')])('is not %s', (text) => {
    expect(canonicalUuid(text)).toBeNull();
  });
});
