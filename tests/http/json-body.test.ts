import { checkJsonText, firstUnstorable } from '../../src/interfaces/http/json-body.js';
import { ifMatchVersion } from '../../src/interfaces/http/versions.js';

describe('the size of JSON text', () => {
  const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`;

  it('is at most 32, counted before anything is built', () => {
    expect(checkJsonText(nested(32)).problem).toBeNull();
    expect(checkJsonText(nested(34)).problem).toContain('32');
    expect(checkJsonText('['.repeat(1_000_000)).problem).toContain('32');
  });

  it('is at most 200,000 values, counted before anything is built', () => {
    const list = (values: number) => `[${'1,'.repeat(values - 2)}1]`;
    expect(checkJsonText(list(200_000))).toEqual({ problem: null, values: 200_000 });
    expect(checkJsonText(list(200_001)).problem).toContain('200000 values');
  });

  it('does not count brackets in strings, after whatever escapes', () => {
    expect(checkJsonText(JSON.stringify({ a: '['.repeat(100), b: '\\"[[[['.repeat(20) })).problem).toBeNull();
    expect(checkJsonText(`["\\\\",${'['.repeat(32)}`).problem).toContain('32');
  });
});

describe('what cannot be stored', () => {
  it.each([
    ['a\0', ''],
    [{ a: ['x', 'y\0'] }, 'a.1'],
    [{ a: { 'k\0': 1 } }, 'a'],
    [{ a: '\ud800' }, 'a'],
    [{ a: Number.POSITIVE_INFINITY }, 'a'],
  ])('is found where it is (%#)', async (value, path) => {
    expect(await firstUnstorable(value)).toMatchObject({ path });
  });

  it('is found with a path that does not repeat what was sent', async () => {
    const path = `${'x'.repeat(100)}….a`;
    expect(await firstUnstorable({ ['x'.repeat(1_000_000)]: { a: '\0' } })).toMatchObject({ path });
  });

  it('is left to another in the member that is excepted', async () => {
    expect(await firstUnstorable({ rows: ['\0'], a: { b: 1 } }, 'rows')).toBeNull();
    expect(await firstUnstorable({ rows: ['\0'], a: { rows: '\0' } }, 'rows')).toMatchObject({ path: 'a.rows' });
  });

  it('is not anything else', async () => {
    expect(await firstUnstorable({ a: [null, true, -1.5, '\u{1F600}', '\u0001', ''], '': {} })).toBeNull();
  });
});

describe('If-Match', () => {
  it.each([
    [undefined, undefined],
    ['"3"', 3],
    ['W/"3"', 3],
    ['3', Number.NaN],
    ['*', undefined],
    ['"03"', Number.NaN],
    ['"1", "2"', Number.NaN],
    ['', Number.NaN],
  ])('%s is version %s', (header, version) => {
    expect(ifMatchVersion(header)).toBe(version);
  });
});
