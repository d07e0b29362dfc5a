import { type Masker, mostMaskedCharacters } from '../../../src/application/record/ports.js';
import { MaskingFailed } from '../../../src/domain/record/errors.js';
import { type MaskKind, maskKinds } from '../../../src/domain/record/recording.js';
import type { Json } from '../../../src/domain/workspace/json.js';
import { ordinaryTexts } from './ordinary-texts.js';
import { namedSecrets, written } from './personal-data.js';

const finds = Object.entries(written).flatMap(([kind, texts]) =>
  texts.map((text) => [kind as MaskKind, text] as const),
);

/** Signs that may stand around a find. */
const frames: readonly (readonly [string, string])[] = [
  ['', ''],
  ['It is ', '.'],
  ['(', ')'],
  ['"', '"'],
  ["'", "',"],
  ['<', '>'],
  ['[see ', ']'],
  ['\n', '\n'],
  ['a: ', '; b'],
  ['¿', '?'],
  ['値：', '。'],
  ['😀 ', ' 😀'],
];

const escaped = (text: string) =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

export function maskerContract(name: string, masker: Masker): void {
  describe(`the masker: ${name}`, () => {
    const all = (text: string) => masker.mask(text, maskKinds);

    it.each(finds)('replaces %s %j, also among other signs', async (kind, text) => {
      for (const [before, after] of frames)
        expect(await masker.mask(`${before}${text}${after}`, [kind])).toBe(`${before}[${kind}]${after}`);
    });

    it.each(finds)('replaces %s %j at every position of a text', async (kind, text) => {
      const words = 'one two three';
      for (let at = 0; at <= words.length; at++) {
        const [before, after] = [words.slice(0, at), words.slice(at)];
        expect(await masker.mask(`${before} ${text} ${after}`, [kind])).toBe(`${before} [${kind}] ${after}`);
      }
    });

    it.each(finds)('replaces %s %j in JSON, however it is escaped', async (kind, text) => {
      const argumentsOf = (value: string) => `{ "count": 1.50, "list": [ "${value}" ], "${value}": true }`;
      const wanted = argumentsOf(`[${kind}]`);
      for (const value of [JSON.stringify(text).slice(1, -1), escaped(text)]) {
        expect(await masker.mask(argumentsOf(value), [kind])).toBe(wanted);
        const twice = JSON.stringify({ arguments: argumentsOf(value) });
        expect(JSON.parse(await masker.mask(twice, [kind]))).toEqual({ arguments: wanted });
        const amongText = await masker.mask(`The tool got ${argumentsOf(value)}`, [kind]);
        expect(amongText).not.toContain(value);
        expect(amongText).toContain(`[${kind}]`);
      }
    });

    it.each(finds)('replaces %s %j in the values and keys of objects', async (kind, text) => {
      const value = { a: [text, 1, null], [text]: { b: `${text} ` } };
      expect(await masker.maskJson(value, [kind])).toEqual({
        a: [`[${kind}]`, 1, null],
        [`[${kind}]`]: { b: `[${kind}] ` },
      });
    });

    it.each(namedSecrets)('replaces the secret in %j', async (before, secret, after) => {
      const [text, wanted] = [`${before}${secret}${after}`, `${before}[secret]${after}`];
      expect(await masker.mask(text, ['secret'])).toBe(wanted);
      expect(await masker.mask(`one\n${text}\ntwo`, ['secret'])).toBe(`one\n${wanted}\ntwo`);
      expect(await masker.maskJson({ list: [text] }, ['secret'])).toEqual({ list: [wanted] });
      expect(await masker.mask(JSON.stringify({ text }), ['secret'])).toBe(JSON.stringify({ text: wanted }));
    });

    it.each([
      'ada\u200b@example.com',
      'ada＠example．com',
      'ada%40example.com',
      'ada&#64;example.com',
      'a\u00adda@example.com',
      'ada\\u0040example.com',
      'ada\\\\u0040example.com',
    ])('replaces an address in other forms of its characters: %s', async (text) => {
      expect(await all(`Write to ${text} now`)).toBe('Write to [email] now');
    });

    it.each<[MaskKind, string]>([
      ['card', '４１１１ １１１１ １１１１ １１１１'],
      ['card', '4111\u00a01111\u00a01111\u00a01111'],
      ['card', '4111\u20111111\u20111111\u20111111'],
      ['phone', '+49\u202f30\u202f12345678'],
      ['phone', '٠٣٠ ١٢٣٤٥٦٧٨'],
      ['iban', 'DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000'],
    ])('replaces %s with digits and spaces of other scripts: %s', async (kind, text) => {
      expect(await masker.mask(`see ${text} ok`, [kind])).toBe(`see [${kind}] ok`);
    });

    it('masks long content, and refuses content that is longer than the limit', async () => {
      const long = 'word '.repeat(200_000);
      expect(await all(`${long}ada@example.com`)).toBe(`${long}[email]`);
      expect(await masker.maskJson([{ 'ada@example.com': long }, null], ['email'])).toEqual([
        { '[email]': long },
        null,
      ]);
      const most = '-'.repeat(mostMaskedCharacters);
      expect(await all(most)).toBe(most);
      await expect(all(`${most}-`)).rejects.toThrow(MaskingFailed);
      await expect(masker.maskJson([most], [])).rejects.toThrow(MaskingFailed);
    });

    it('fails for content that is too deep to be masked', async () => {
      let deep: Json = 'ada@example.com';
      for (let level = 0; level < 100_000; level++) deep = [deep];
      await expect(masker.maskJson(deep, ['email'])).rejects.toThrow(MaskingFailed);
    });

    it('leaves ordinary texts as they are', async () => {
      expect(await Promise.all(ordinaryTexts.map(all))).toEqual(ordinaryTexts);
    });

    it('replaces only the kinds of the settings', async () => {
      const text = 'ada@example.com, 192.168.0.1';
      expect(await masker.mask(text, [])).toBe(text);
      expect(await masker.mask(text, ['ip'])).toBe('ada@example.com, [ip]');
      expect(await masker.mask(text, ['ip', 'email'])).toBe('[email], [ip]');
    });

    it('replaces the finds of own patterns, also those that are escaped', async () => {
      const masks = [{ name: 'project', pattern: '(?i)prj-\\d{4}' }];
      expect(await masker.mask('PRJ-1234 and prj-9999, PRJ-12', masks)).toBe('[project] and [project], PRJ-12');
      expect(await masker.mask('{"id":"PRJ\\u002d1234"}', masks)).toBe('{"id":"[project]"}');
      expect(await masker.maskJson({ 'PRJ-1234': 'PRJ-1234' }, masks)).toEqual({ '[project]': '[project]' });
      expect(await masker.mask('naïve 😀 Zoë', [{ name: 'zoe', pattern: 'Zo\\p{L}' }])).toBe('naïve 😀 [zoe]');
    });

    it('makes one find of those that overlap', async () => {
      const own = (name: string, pattern: string) => ({ name, pattern });
      expect(await masker.mask('abcdef', [own('x', 'bcd'), own('y', 'cde')])).toBe('a[x]f');
      expect(await masker.mask('abcdef', [own('x', 'bc'), own('y', 'bcde')])).toBe('a[y]f');
      expect(await masker.mask('abcdef', [own('x', 'ab'), own('y', 'cd')])).toBe('[x][y]ef');
      expect(await masker.mask('see ada@example.com', ['email', own('x', 'see ada')])).toBe('[x]');
    });

    it('keeps keys apart that become equal', async () => {
      const masked = await masker.maskJson({ 'a@example.com': 1, 'b@example.com': 2 }, ['email']);
      expect(masked).toEqual({ '[email]': 1, '[email] 2': 2 });
      const third = await masker.maskJson({ '[email] 2': 1, 'a@b.de': 2, 'c@d.de': 3, 'e@f.de': 4 }, ['email']);
      expect(third).toEqual({ '[email] 2': 1, '[email]': 2, '[email] 3': 3, '[email] 4': 4 });
    });

    it('replaces the whole value under the name of a secret, and numbers', async () => {
      expect(await masker.maskJson({ password: 'correct horse', dbPassword: ['x'], compass: 'n' }, ['secret'])).toEqual(
        {
          password: '[secret]',
          dbPassword: ['[secret]'],
          compass: 'n',
        },
      );
      expect(await masker.mask('{"passwords":"x","password":["a",{"b":"c"}],"next":["d"]}', ['secret'])).toBe(
        '{"passwords":"x","password":["[secret]",{"b":"[secret]"}],"next":["d"]}',
      );
      expect(await masker.mask('{"pin":1.0,"password":"correct horse","card":4111111111111111}', maskKinds)).toBe(
        '{"pin":1.0,"password":"[secret]","card":"[card]"}',
      );
    });

    it.each<[Json, Json]>([
      [{ password: { value: 'hunter2hunter' } }, { password: { value: '[secret]' } }],
      [
        { password: [{ a: [{ b: 'x', c: 7 }], d: true }, 'y'], e: 'z' },
        { password: [{ a: [{ b: '[secret]', c: '[secret]' }], d: true }, '[secret]'], e: 'z' },
      ],
      [{ password: '{"a":{"b":"x"}}' }, { password: '{"[secret]":{"[secret]":"[secret]"}}' }],
      [
        [
          { name: 'password', value: 'x' },
          { value: { a: ['x'] }, key: 'API_KEY', b: 'y' },
        ],
        [
          { name: 'password', value: '[secret]' },
          { value: { a: ['[secret]'] }, key: 'API_KEY', b: 'y' },
        ],
      ],
      [
        [
          { Value: 'x', Name: 'token' },
          { name: 'city', value: 'x' },
          { name: ['token'], value: 'x' },
        ],
        [
          { Value: '[secret]', Name: 'token' },
          { name: 'city', value: 'x' },
          { name: ['token'], value: 'x' },
        ],
      ],
      [
        { value: { value: 'x', name: 'city' }, name: 'secret', next: { value: 'y' } },
        { value: { value: '[secret]', name: '[secret]' }, name: 'secret', next: { value: 'y' } },
      ],
      [
        { password: { type: 'string', description: 'Yours', default: 'x' } },
        { password: { type: 'string', description: 'Yours', default: '[secret]' } },
      ],
    ])('replaces all texts and numbers within a value that is a secret: %j', async (value, wanted) => {
      expect(await masker.maskJson(value, ['secret'])).toEqual(wanted);
      expect(await masker.mask(JSON.stringify(value, null, 1), ['secret'])).toBe(JSON.stringify(wanted, null, 1));
      expect(await masker.maskJson(value, ['email'])).toEqual(value);
    });

    it('replaces each value of a secret whose key is repeated', async () => {
      const [text, wanted] = ['"value":"x"', '"value":"[secret]"'];
      expect(await masker.mask(`{${text},"name":"token","a":"x",${text}}`, ['secret'])).toBe(
        `{${wanted},"name":"token","a":"x",${wanted}}`,
      );
    });

    it('keeps everything else of a text of JSON, also keys that occur twice and long numbers', async () => {
      const text = '{ "a": "x@example.com",\n\t"a": 12345678901234567890.10, "b": "\\u00e9\\/" }';
      expect(await all(text)).toBe(text.replace('x@example.com', '[email]'));
    });

    it('masks a text of JSON as text if it is deeper than a few levels, or broken', async () => {
      let deep = 'ada@example.com';
      for (let level = 0; level < 7; level++) deep = JSON.stringify({ deep });
      expect(await all(deep)).not.toContain('ada');
      expect(await all('{"a": "ada\\u0040example.com"')).toBe('{"a": "[email]"');
      expect(await all(`${'['.repeat(50_000)}"ada@example.com"`)).not.toContain('ada');
    });

    it.each([
      ['(a)\\1', /linear/],
      ['(?<x>a)\\k<x>', /linear.*\\k/],
      ['(a)\\g1', /linear/],
      ['key:\\h+\\K\\d+', /linear/],
      ['\\xZ1', /linear.*\\x/],
      ['\\u12', /linear.*\\u/],
      ['\\c1', /linear.*\\c/],
      ['\\8', /linear/],
      ['a(?=b)', /linear/],
      ['(', /linear/],
      ['(?:\\p{L}{1,1000})', /too large/],
      ['((a{1,100}){1,100}){1,100}', /linear|large/],
      ['x*', /empty/],
    ])('refuses a pattern that it cannot run: %s', async (pattern, problem) => {
      expect(masker.problem(pattern)).toMatch(problem);
      await expect(masker.mask('ada', [{ name: 'own', pattern }])).rejects.toThrow(MaskingFailed);
    });

    it('accepts ordinary patterns', () => {
      for (const pattern of [
        'KD\\d{6}',
        '\\bcase [A-Z]+\\b',
        '(?i)order (?:no|number) \\d+',
        '(?<no>\\x41\\u0042\\u{1F600}\\x{41}\\cA\\\\key)',
        '[\\p{L}]+-\\d',
      ])
        expect(masker.problem(pattern)).toBeNull();
    });
  });
}
