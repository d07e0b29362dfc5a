import { checkJsonText, firstUnstorable, inexactNumber } from '../../src/interfaces/http/json-body.js';
import { ifMatchVersion } from '../../src/interfaces/http/middleware/validate.js';

describe('the size of JSON text', () => {
  const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`;

  it('is at most 32 levels, counted before the text is parsed', () => {
    expect(checkJsonText(nested(32)).problem).toBeNull();
    expect(checkJsonText(nested(34)).problem).toContain('32');
    expect(checkJsonText('['.repeat(1_000_000)).problem).toContain('32');
  });

  it('is at most 200,000 values, counted before the text is parsed', () => {
    const list = (values: number) => `[${'1,'.repeat(values - 2)}1]`;
    expect(checkJsonText(list(200_000))).toMatchObject({ problem: null, values: 200_000 });
    expect(checkJsonText(list(200_001)).problem).toContain('200000 values');
  });

  it('does not count brackets in strings, also after escapes', () => {
    expect(checkJsonText(JSON.stringify({ a: '['.repeat(100), b: '\\"[[[['.repeat(20) })).problem).toBeNull();
    expect(checkJsonText(`["\\\\",${'['.repeat(32)}`).problem).toContain('32');
  });

  it.each([
    ['spec', '{"a":[{"x":1},"y"],"spec" : {"b":1,"c":['],
    ['a\\"b', '{"a\\"b":["c",'],
    ['', '["a",{"b":'],
  ])('names the member that is too large: %s', (member, text) => {
    expect(checkJsonText(text + '['.repeat(32))).toMatchObject({ member });
    expect(checkJsonText(text + '1,'.repeat(200_000))).toMatchObject({ member });
  });
});

describe('a number in JSON text', () => {
  it.each([
    '0',
    '-0.0',
    '9007199254740992',
    '123456789012345680000',
    '0.1',
    '0.30000000000000004',
    '1.50',
    '1e300',
    '1E+2',
    '5e-324',
    '100000000000000000000000e-23',
    '1e999', // becomes Infinity, which `firstUnstorable` refuses
  ])('is kept: %s', (number) => expect(inexactNumber(`{"a":[${number} ,"1.00000000000000000001"]}`)).toBeNull());

  it.each([
    '9007199254740993',
    '-12345678901234567890',
    '0.1000000000000000055',
    '1.00000000000000000001',
    '1e-400',
    '1.2345678901234567e22',
  ])('would lose digits: %s', (number) => expect(inexactNumber(`["\\"",{"a":${number}}]`)).toContain(number));

  it('is checked in one pass, however long it is', () => {
    const long = `[${'1.'.padEnd(1_000_000, '0')},${'9'.repeat(300)}]`;
    expect(inexactNumber(long)).toMatch(/^the number 9{100}… would lose digits/);
  });
});

describe('a value that cannot be stored', () => {
  it.each([
    ['a\0', ''],
    [{ a: ['x', 'y\0'] }, 'a.1'],
    [{ a: { 'k\0': 1 } }, 'a'],
    [{ a: '\ud800' }, 'a'],
    [{ a: Number.POSITIVE_INFINITY }, 'a'],
  ])('is found with its path (%#)', async (value, path) => {
    expect(await firstUnstorable(value)).toMatchObject({ path });
  });

  it('is found with a shortened path', async () => {
    const path = `${'x'.repeat(100)}….a`;
    expect(await firstUnstorable({ ['x'.repeat(1_000_000)]: { a: '\0' } })).toMatchObject({ path });
  });

  it('is not looked for in the top-level member that is excepted', async () => {
    expect(await firstUnstorable({ rows: ['\0'], a: { b: 1 } }, 'rows')).toBeNull();
    expect(await firstUnstorable({ rows: ['\0'], a: { rows: '\0' } }, 'rows')).toMatchObject({ path: 'a.rows' });
  });

  it('is not found if all values can be stored', async () => {
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
  ])('%s means version %s (NaN equals none, undefined stands for any)', (header, version) => {
    expect(ifMatchVersion(header)).toBe(version);
  });
});
