import {
  isComparable,
  type Job,
  metricOf,
  pick,
  type Result,
  type Summary,
  summaryOf,
} from '../../../src/interfaces/web/console/pages/evaluations/summary.js';

const row = (record_id: string, more: Partial<Result>): Result => ({
  ...{ record_id, group: null, input: 'q', expected: ['Paris'], output: 'a', score: 1, latency: 1 },
  ...{ tokens: null, error: null },
  ...more,
});
const rows = [
  row('a', { group: 'x' }),
  row('b', { score: 0, output: 'London' }),
  row('c', { score: 0, output: null, error: 'timed out', group: 'x' }),
];
const ids = (asked: Partial<Parameters<typeof pick>[1]>) =>
  pick(rows, { wanted: 'all', group: null, text: '', ...asked })
    .map(({ record_id }) => record_id)
    .join('');

describe('an evaluation', () => {
  it('shows rows by score, group and text', () => {
    expect([ids({}), ids({ wanted: 'wrong' }), ids({ wanted: 'right' }), ids({ wanted: 'errors' })]).toEqual([
      'abc',
      'bc',
      'a',
      'c',
    ]);
    expect([ids({ group: 'x' }), ids({ group: 'no group' }), ids({ wanted: 'wrong', group: 'x' })]).toEqual([
      'ac',
      'b',
      'c',
    ]);
    expect([ids({ text: 'LONDON' }), ids({ text: 'paris' }), ids({ text: 'timed' })]).toEqual(['b', 'abc', 'c']);
  });

  it('is comparable with an evaluation of the same records by the same metric', () => {
    const summary = (metric: string, content_sha256: string, more = {}) =>
      ({ metric, tolerance: null, field: null, dataset: { content_sha256 }, ...more }) as unknown as Summary;
    const exact = summary('exact', '1');
    expect(isComparable(exact, summary('exact', '1'))).toBe(true);
    expect(isComparable(exact, summary('exact', '2'))).toBe(false);
    expect(isComparable(exact, summary('exact', '1', { field: 'city' }))).toBe(false);
    expect(metricOf(summary('numeric', '1', { tolerance: 0.1, field: 'total' }))).toBe(
      'numeric with a tolerance of 0.1, field total',
    );
  });

  it('has a summary only after its end; other jobs have none', () => {
    const job = (kind: string, result: unknown) => summaryOf({ kind, result } as Job);
    expect(job('evaluation', { groups: [] })).toEqual({ groups: [] });
    expect([job('evaluation', null), job('evaluation', {}), job('external', { groups: [] })]).toEqual([
      null,
      null,
      null,
    ]);
  });
});
