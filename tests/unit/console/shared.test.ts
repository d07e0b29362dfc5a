import { browserName } from '../../../src/interfaces/web/console/pages/account/browser-name.js';
import { readLines, summaryOf } from '../../../src/interfaces/web/console/pages/logs/log-lines.js';
import { lineAndColumn, placeOf, readJson } from '../../../src/interfaces/web/console/shared/json-source.js';
import { joinedPages } from '../../../src/interfaces/web/console/shared/paging.js';
import { dotsOf, nearest, pathOf, roundUp } from '../../../src/interfaces/web/console/shared/scale.js';
import { fieldOf, withField } from '../../../src/interfaces/web/console/shared/spec/fields.js';

describe('lines of the log', () => {
  it('are read with their time, level, event and fields', () => {
    const text = JSON.stringify({
      ...{ time: '2025-11-21T00:00:00.123Z', level: 'warn', event: 'request', request_id: 'req_1', method: 'GET' },
      ...{ path: '/v1/jobs', status: 503, ms: 2, cause: { code: 'x' } },
    });
    const [line] = readLines([text]);
    expect(line).toMatchObject({ text, time: 1763683200.123, level: 'warn', event: 'request' });
    expect(line?.fields).toEqual([
      ...[
        ['request_id', 'req_1'],
        ['method', 'GET'],
        ['path', '/v1/jobs'],
        ['status', '503'],
        ['ms', '2'],
      ],
      ['cause', '{\n  "code": "x"\n}'],
    ]);
    expect(line && summaryOf(line)).toBe('GET · /v1/jobs · 503 · 2 ms');
  });

  it('are shown unchanged if they are not JSON or have other fields', () => {
    for (const text of ['plain text', '[1]', 'null', '{"level":"loud","time":"soon"}', '{'])
      expect(readLines([text])[0]).toMatchObject({ event: text, level: null, time: null });
  });

  it('keep their keys when newer lines come and older lines go', () => {
    const keys = (...lines: string[]) => readLines(lines).map(({ key }) => key);
    expect(new Set(keys('a', 'b', 'a')).size).toBe(3);
    expect(keys('b', 'c')[0]).toBe(keys('a', 'b')[1]);
  });
});

const items = (...ids: string[]) => ids.map((id) => ({ id }));

describe('joinedPages', () => {
  it('joins pages with common items, prefers the newer ones, and returns null for a gap', () => {
    const newer = { id: 'c', status: 'ended' };
    expect(joinedPages([...items('e', 'd'), newer], items('d', 'c', 'b', 'a'))).toEqual([
      ...items('e', 'd'),
      newer,
      ...items('b', 'a'),
    ]);
    expect(joinedPages(items('b', 'a'), [])).toEqual(items('b', 'a'));
    expect(joinedPages([], items('a'))).toEqual(items('a'));
    expect(joinedPages(items('h', 'g'), items('d', 'c', 'b', 'a'))).toBeNull();
  });
});

describe('the scale of a chart', () => {
  it.each([
    [0, 1],
    [0.03, 0.05],
    [1, 1],
    [1.2, 2],
    [37, 50],
    [50, 50],
    [712, 1000],
  ])('for a highest value of %d ends at %d', (most, top) => expect(roundUp(most)).toBeCloseTo(top, 10));

  it('draws lines between neighbours, gaps, and single points', () => {
    const points = [[0, 1], [1, 2.04], null, [3, 4], null] as const;
    expect(pathOf(points)).toBe('M0 1L1 2M3 4');
    expect(dotsOf(points)).toBe('M3 4h0');
    expect(pathOf([])).toBe('');
  });

  it('finds the nearest time', () => {
    const times = [10, 20, 30];
    expect([-5, 14, 16, 25, 99].map((at) => nearest(times, at))).toEqual([0, 0, 1, 2, 2]);
  });
});

describe('a field of a spec', () => {
  const spec = { goal: 'x', acceptance: { metric: 'exact', threshold: 0.9 }, list: [1] };

  it('is read by its path', () => {
    expect(fieldOf(spec, 'acceptance.threshold')).toBe(0.9);
    expect(fieldOf(spec, 'goal.length')).toBeUndefined();
    expect(fieldOf(spec, 'other.deep')).toBeUndefined();
  });

  it('is set without changing others; an empty text removes it, and then its object if that is empty', () => {
    const changed = (path: string, value: unknown, before: object = spec) =>
      JSON.parse(withField(before as typeof spec, path, value));
    expect(changed('acceptance.threshold', 0)).toEqual({ ...spec, acceptance: { metric: 'exact', threshold: 0 } });
    expect(changed('acceptance.field', 'city', {})).toEqual({ acceptance: { field: 'city' } });
    expect(changed('goal', '')).toEqual({ acceptance: spec.acceptance, list: [1] });
    expect(changed('acceptance.metric', '', { acceptance: { metric: 'exact' } })).toEqual({});
    expect(changed('goal.part', 'y')).toEqual({ ...spec, goal: { part: 'y' } });
    expect(spec.acceptance.threshold).toBe(0.9);
  });
});

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

describe('the name of a browser', () => {
  const safari = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${safari} Chrome/140.0.0.0 Safari/537.36 Edg/140.0`, 'Edge on Windows'],
    [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${safari} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
    [`Mozilla/5.0 (Linux; Android 10; K) ${safari} Chrome/140.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) Version/18.6 Mobile/15E148 Safari/604.1', 'Safari on iOS'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.6 Safari/605.1.15', 'Safari on macOS'],
    ['curl/8.14.1', 'curl'],
    ['python-requests/2.32', 'python-requests'],
    ['x'.repeat(500), 'x'.repeat(60)],
    ['', 'Unknown'],
    [null, 'Unknown'],
  ])('from %s is %s', (agent, name) => expect(browserName(agent)).toBe(name));
});
