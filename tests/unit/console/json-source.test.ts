import { lineAndColumn, placeOf, readJson } from '../../../src/interfaces/web/console/shared/json-source.js';

/** Returns the problem of a text as `line:column message`. */
const problem = (text: string) => {
  const found = readJson(text).problem;
  if (!found) return null;
  const { line, column } = lineAndColumn(text, found.offset);
  return `${line}:${column} ${found.message}`;
};

describe('readJson', () => {
  it('reads the same value as JSON.parse', () => {
    for (const text of [
      '{}',
      ' [1, -0.5e3, true, null, "\\u00e9\\n"] ',
      '{"a": {"__proto__": [], "b": "x"}}',
      '1.50',
      '0.0',
    ]) {
      expect(readJson(text)).toMatchObject({ problem: null, value: JSON.parse(text) });
    }
  });

  it.each([
    ['', '1:1 Expected a value, but found the end.'],
    ['{\n  "a": 1,\n}', '3:1 There must be no comma before }.'],
    ['{\n  "a" 1}', '2:7 Expected a colon after the name, but found 1.'],
    ['{\n  "a": 1\n  "b": 2}', '3:3 Expected a comma or }, but found ".'],
    ["{'a': 1}", "1:2 Expected a name in double quotes, but found '."],
    ['{"a": "open\n}', '1:7 This text is not closed by a double quote on its line.'],
    ['{"a": "\\x"}', '1:7 This text has an invalid escape or a control character.'],
    ['{"a": 01}', '1:7 This is not a number of JSON.'],
    ['{"a": 1} x', '1:10 Nothing may follow the end of the JSON, but there is x.'],
    ['[1, 2', '1:6 Expected a comma or ], but found the end.'],
    ['{"a": 1, "a": 2}', '1:10 The name "a" stands here twice.'],
    ['{"a": 12345678901234567890}', '1:7 This number cannot be kept exactly. Write it as a text.'],
    ['[1e999]', '1:2 This number cannot be kept exactly. Write it as a text.'],
    [`${'['.repeat(300)}`, '1:202 Values may be nested 200 deep at most.'],
  ])('finds the place and the problem in %j', (text, expected) => {
    expect(problem(text)).toBe(expected);
  });

  it('accepts numbers that JavaScript keeps exactly', () => {
    for (const number of [
      '0.1',
      '1e21',
      '100000000000000000000000',
      '-0',
      '0e5',
      '1.10',
      '9007199254740991',
      '5e-324',
    ]) {
      expect([number, problem(number)]).toEqual([number, null]);
    }
  });

  it('finds the place of a path in a finding, or of the nearest value around it', () => {
    const text = '{\n  "goal": "x",\n  "acceptance": { "metric": 5 },\n  "list": [1, {"a": 2}]\n}';
    const source = readJson(text);
    const at = (path: string) => lineAndColumn(text, placeOf(source, path));
    expect(at('spec.acceptance.metric')).toEqual({ line: 3, column: 29 });
    expect(at('spec.acceptance.threshold')).toEqual({ line: 3, column: 17 });
    expect(at('list.1.a')).toEqual({ line: 4, column: 21 });
    expect(at('spec.task')).toEqual({ line: 1, column: 1 });
    expect(at('spec')).toEqual({ line: 1, column: 1 });
  });
});
