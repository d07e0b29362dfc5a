import { type Metric, scoreOf } from '../../../../src/domain/jobs/scorer.js';
import type { Json } from '../../../../src/domain/workspace/json.js';

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

it.each(cases)('%s: %j for %j is %i (%#)', (metric, output, expected, score, tolerance = 0) => {
  expect(scoreOf({ metric, tolerance }, output, expected)).toBe(score);
});
