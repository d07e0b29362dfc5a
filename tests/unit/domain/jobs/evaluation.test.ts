import { Evaluation, percentile, type Scored, shareOf } from '../../../../src/domain/jobs/evaluation.js';
import { compareScores } from '../../../../src/domain/jobs/evaluation-comparison.js';
import { type Metric, scoreOf } from '../../../../src/domain/jobs/scorer.js';
import type { Json, JsonObject } from '../../../../src/domain/workspace/json.js';
import { anEvaluation, aProject, aResult, aTeam } from '../../../support/records.js';

const project = aProject(aTeam());
const scored = (scores: readonly (0 | 1)[], over: (index: number) => Partial<Scored> = () => ({})): Scored[] =>
  scores.map((score, index) => aResult(index + 1, { score, ...over(index) }));

describe('the Wilson interval', () => {
  // These values are from Newcombe (1998) and similar papers.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
    [29, 29, 0.883, 1],
    [1, 1, 0.2065, 1],
  ])('for %i of %i is %f to %f', (right, count, low, high) => {
    const { interval, accuracy } = shareOf(right, count);
    expect(interval[0]).toBeCloseTo(low, 4);
    expect(interval[1]).toBeCloseTo(high, 4);
    expect(accuracy).toBe(right / count);
  });
});

it('percentile returns one of the values', () => {
  const values = [5, 1, 4, 2, 3];
  expect([0, 0.2, 0.5, 0.9, 1].map((part) => percentile(values, part))).toEqual([1, 1, 3, 5, 5]);
  expect(percentile([], 0.5)).toBe(null);
});

describe('the scorer of a spec', () => {
  const scorer = (acceptance?: JsonObject) => Evaluation.scorer({ spec: acceptance ? { acceptance } : {} });

  it('has the metric of the acceptance, or `normalized` without a metric', () => {
    expect(scorer({ metric: 'numeric', tolerance: 0.5 })).toEqual({ metric: 'numeric', tolerance: 0.5 });
    for (const open of [undefined, {}, { metric: 'accuracy' }, { metric: ' ' }, { metric: null, tolerance: null }])
      expect(scorer(open as JsonObject)).toEqual({ metric: 'normalized', tolerance: 0 });
  });

  it.each([[{ metric: 'bleu' }], [{ tolerance: -1 }], [{ tolerance: '1' }]])('is refused for %j', (acceptance) => {
    expect(() => scorer(acceptance as JsonObject)).toThrow(/spec\.acceptance\.(metric|tolerance)/);
  });
});

describe('Evaluation.summary', () => {
  it('has scores by group, the largest group first, with times and tokens', () => {
    const results = scored([1, 0, 1, 0], (index) => ({
      group: index === 0 ? 'a' : null,
      latency: index / 10,
      ...(index === 3 && { error: 'too long', tokens: null }),
    }));
    expect(Evaluation.summary(anEvaluation(project), results)).toMatchObject({
      count: 4,
      right: 2,
      accuracy: 0.5,
      errors: 1,
      groups: [
        { group: null, count: 3, right: 1 },
        { group: 'a', count: 1, right: 1 },
      ],
      groups_left_out: 0,
      latency: { p50: 0.1, max: 0.2 },
      tokens: { prompt: 21, completion: 6 },
      runtime: { runtime: 'onnx', path: 'tiny-chat', temperature: 0, max_tokens: null },
    });
  });

  it('has a bounded size with many groups', () => {
    const results = scored(Array(500).fill(1), (index) => ({ group: `${'x'.repeat(90)}${index}`, tokens: null }));
    const summary = Evaluation.summary(anEvaluation(project), results);
    expect(summary).toMatchObject({ groups_left_out: 400, tokens: null });
    expect(JSON.stringify(summary).length).toBeLessThan(64_000);
  });
});

it('compareScores compares the records that both evaluations scored, overall and by group', () => {
  const group = (index: number) => ({ group: index < 2 ? 'a' : 'b' });
  const before = scored([0, 1, 1, 0], group).slice(0, 3);
  const after = scored([1, 0, 1, 1], group);
  expect(compareScores({ before, after, differing: [1, 2, 3, 4] })).toMatchObject({
    before: { count: 3, right: 2 },
    after: { count: 3, right: 2 },
    turnedRight: 1,
    turnedWrong: 1,
    groups: [
      { group: 'a', turnedRight: 1, turnedWrong: 1, before: { right: 1 }, after: { right: 1 } },
      { group: 'b', turnedRight: 0, turnedWrong: 0 },
    ],
    right: [{ recordId: 'r1', group: 'a' }],
    wrong: [{ recordId: 'r2', group: 'a' }],
    changed: [{ recordId: 'r3', group: 'b' }],
  });
});

it('compareScores compares the latency of answers, and the tokens that both runtimes report', () => {
  const failed = { error: 'too long', latency: 0, tokens: null };
  const before = scored([1, 1, 1, 0], (index) => ({ latency: index + 1 }));
  const after = scored([1, 1, 1, 0], (index) =>
    index === 2 ? failed : { latency: 2 * index, tokens: { prompt: 9, completion: 1 } },
  );
  expect(compareScores({ before, after, differing: [] })).toMatchObject({
    changed: [],
    latency: { before: 2, after: 2 },
    tokens: { before: { prompt: 21, completion: 6 }, after: { prompt: 27, completion: 3 } },
  });
  const none = scored([0], () => failed);
  expect(compareScores({ before: none, after: none, differing: [] })).toMatchObject({ latency: null, tokens: null });
});

const format = { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' }, strict: true } };

describe('the scorer of a spec with a response format', () => {
  it('has the field to compare, but no field for json_schema, which checks the whole answer', () => {
    const scorer = (metric: string, field: string) =>
      Evaluation.scorer({ spec: { response_format: format, acceptance: { metric, field } } });
    expect(scorer('exact', 'a.b')).toEqual({ metric: 'exact', tolerance: 0, field: 'a.b' });
    expect(scorer('exact', '')).toEqual({ metric: 'exact', tolerance: 0 });
    expect(scorer('json_schema', 'a')).toEqual({ metric: 'json_schema', tolerance: 0 });
    for (const response_format of [null, { type: 'json_object' }] as Json[])
      expect(() => Evaluation.scorer({ spec: { response_format, acceptance: { metric: 'json_schema' } } })).toThrow(
        /spec\.response_format/,
      );
  });

  it.each<[string, string, Json, 0 | 1]>([
    ['city', '{"city": "Paris"}', 'Paris', 1],
    ['city', '{"city": "Rome"}', 'Paris', 0],
    ['city', 'Paris', 'Paris', 0],
    ['city', '"Paris"', 'Paris', 0],
    ['city', '{"town": "Paris"}', 'Paris', 0],
    ['place.names.1', '{"place": {"names": ["Lutetia", "Paris"]}}', 'Paris', 1],
    ['place.names', '{"place": {"names": ["Paris"]}}', ['Paris'], 1],
    ['place.names.length', '{"place": {"names": ["Paris"]}}', 1, 0],
    ['toString', '{}', 'x', 0],
    ['n', '{"n": 7}', 7, 1],
    ['n', '{"n": "7"}', 7, 1],
    ['n', '{"n": null}', null, 1],
    ['n', '{}', null, 0],
  ])('compares the field %s of %s with %j: %i', (field, output, expected, score) => {
    expect(scoreOf({ metric: 'exact', tolerance: 0, field }, output, expected)).toBe(score);
  });
});

type Case = [metric: Metric, output: string, expected: Json, score: 0 | 1, tolerance?: number];

const cases: Case[] = [
  ['exact', 'Paris', 'Paris', 1],
  ['exact', 'paris', 'Paris', 0],
  ['exact', ' Paris', 'Paris', 0],
  ['exact', '{ "b": 1, "a": [2] }', { a: [2], b: 1 }, 1],
  ['exact', '{"a":[2]}', { a: [2], b: 1 }, 0],
  ['exact', 'not JSON', { a: 1 }, 0],
  ['exact', '42', 42, 1],
  ['exact', 'true', true, 1],
  ['exact', 'null', null, 1],

  ['normalized', '  PARIS!\n', 'Paris', 1],
  ['normalized', 'New   York', 'new york.', 1],
  ['normalized', "Don't", 'dont', 1],
  ['normalized', 'ﬁsh', 'fish', 1],
  ['normalized', 'Paris, France', 'Paris', 0],
  ['normalized', '42.', 42, 1],
  ['normalized', '?', '?', 1],
  ['normalized', '!', '?', 0],
  ['normalized', 'ÉCOLE', 'école', 1],
  ['normalized', '$5', '5', 0],

  ['contains', 'The capital of France is Paris.', 'paris', 1],
  ['contains', 'It is in Romania, and Jerome knows.', 'Rome', 0],
  ['contains', 'Jerome was in Rome.', 'Rome', 1],
  ['contains', 'The answer is 15', '5', 0],
  ['contains', 'It is New  Delhi!', 'new delhi', 1],
  ['contains', '首都は東京です', '東京', 1],
  ['contains', 'Paris', 'The capital is Paris', 0],
  ['contains', 'what?', '?', 1],

  ['numeric', 'She has 23 stickers.', '23', 1],
  ['numeric', '14 + 9 = 23', 23, 1],
  ['numeric', '23 of them, no, 24', 23, 0],
  ['numeric', '1,234.50', 1234.5, 1],
  ['numeric', '−3', -3, 1],
  ['numeric', 'from 10-20', 20, 1],
  ['numeric', '1e3', 1000, 1],
  ['numeric', '0.30000000000000004', 0.3, 1],
  ['numeric', '3.2', 3, 0],
  ['numeric', '3.2', 3, 1, 0.2],
  ['numeric', 'about 3.3', 3, 0, 0.2],
  ['numeric', 'none', 3, 0],
  ['numeric', '3', 'three', 0],
  ['numeric', '9'.repeat(400), 1, 0],
];

it.each(cases)('the metric %s scores %j for %j as %i (%#)', (metric, output, expected, score, tolerance = 0) => {
  expect(scoreOf({ metric, tolerance }, output, expected)).toBe(score);
});
