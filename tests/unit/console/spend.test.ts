import {
  conditionOf,
  fieldsOf,
  isComplete,
  typedThreshold,
} from '../../../src/interfaces/web/console/pages/alerts/rule.js';
import { costSeries, groupSums, totalCost } from '../../../src/interfaces/web/console/pages/budgets/cost-series.js';
import { amountOf, levelOf, nanosOf, sharesOf, trialCost } from '../../../src/interfaces/web/console/shared/amounts.js';
import { formatCost } from '../../../src/interfaces/web/console/shared/format.js';

describe('amounts', () => {
  it('are read and written exactly, and nothing else is read', () => {
    for (const text of ['0.000000001', '-12.500000000', '9007199254740993.100000000'])
      expect(amountOf(nanosOf(text) as bigint)).toBe(text);
    expect(nanosOf(' 0.15 ')).toBe(150_000_000n);
    for (const text of ['', 'x', '1e3', '.5', '1.', '0.1234567891', '1,5']) expect(nanosOf(text)).toBeNull();
    expect(['-0.500000000', '-1234.000000000', '1234567.100000000'].map(formatCost)).toEqual([
      '-0.5',
      '-1,234',
      '1,234,567.1',
    ]);
  });

  const budget = (settled: string, held: string, remaining: string) => ({ limit: 10, settled, held, remaining });

  it('are parts of a budget, which is near its end above 80 %', () => {
    expect(sharesOf(budget('5.0', '2.5', '2.5'))).toEqual({ settled: 0.5, held: 0.25 });
    expect(sharesOf(budget('15.0', '1.0', '-6.0'))).toEqual({ settled: 1, held: 0 });
    expect(sharesOf(budget('0.0', '0.0', '0.0'))).toEqual({ settled: 1, held: 0 });
    const levels = ['7.9', '8.0', '8.1', '9.99', '10.0', '11'].map((settled) => {
      return levelOf(budget(settled, '0.0', amountOf(10_000_000_000n - (nanosOf(settled) as bigint))));
    });
    expect(levels).toEqual(['free', 'free', 'near', 'near', 'exceeded', 'exceeded']);
  });

  it('of trial prices are exact, where doubles are wrong', () => {
    const calls = { calls: 5, failures: { a: 1, b: 1 }, tokens_in: 1_000_000_007, tokens_out: 3 };
    const prices = (input: string, output: string, perCall: string) => {
      const [one, two, three] = [input, output, perCall].map((text) => nanosOf(text) as bigint);
      return { input: one as bigint, output: two as bigint, perCall: three as bigint };
    };
    expect(trialCost(calls, prices('0.1', '0', '0'))).toBe('100.000000700');
    expect(trialCost(calls, prices('0', '0', '0.1'))).toBe('0.300000000'); // 0.1 * 3 is 0.30000000000000004
    expect(trialCost({ ...calls, tokens_in: 0 }, prices('0', '0.0005', '0'))).toBe('0.000000002');
    expect(trialCost({ ...calls, tokens_in: 0 }, prices('0', '0.0004', '0'))).toBe('0.000000001');
  });
});

describe('costs over time', () => {
  const entry = (start: number, group: string | null, cost: string | null) => ({
    ...{ start, group, cost, calls: 2, failures: { a: 1 }, tokens_in: 3, tokens_out: 4 },
    latency: { p50: 1, p95: 1, p99: 1 },
    time_to_first_token: null,
  });
  const usage = [entry(0, 'a', '0.1'), entry(0, 'b', null), entry(60, 'a', '0.2'), entry(60, null, '0.7')];

  it('are summed by group, the dearest first, and those without a price last', () => {
    const groups = groupSums(usage);
    expect(groups).toMatchObject([
      { group: null, cost: 700_000_000n },
      { group: 'a', cost: 300_000_000n, calls: 4, failures: { a: 2 }, tokens_in: 6, tokens_out: 8 },
      { group: 'b', cost: null },
    ]);
    expect(totalCost(groups)).toBe('1.000000000');
    expect(totalCost(groups.slice(2))).toBeNull();
  });

  it('have a value for each bucket, also for empty ones', () => {
    const summary = { since: 10, until: 170, currency: 'USD', usage, count: 4 };
    expect(costSeries(summary, 60, ['a', null])).toEqual({
      times: [0, 60, 120],
      lines: [
        [0.1, 0.2, 0],
        [0, 0.7, 0],
      ],
    });
  });
});

describe('alert rules on budgets and on windows', () => {
  const budget = { scope: 'project', scope_id: 'prj_1', unit: 'cost', period: 'month' } as const;

  it('are told in words', () => {
    const words = 'When 80 % of a budget (cost of a project, each month) are used';
    expect(conditionOf({ rule_type: 'budget_used', threshold: 0.8, budget })).toBe(words);
    const deleted = { rule_type: 'budget_used', threshold: 0.8, budget: null } as const;
    expect(conditionOf(deleted)).toBe('Never: its budget is deleted');
    expect(conditionOf({ rule_type: 'error_rate', threshold: 0.07, window_minutes: 1, min_calls: 20 })).toBe(
      'When 7 % of the calls fail, of at least 20 within a minute',
    );
    const slow = {
      rule_type: 'latency_p95',
      threshold: 2.5,
      window_minutes: 10,
      min_calls: 5,
      job_kind: 'chat',
    } as const;
    expect(conditionOf(slow)).toBe(
      'When more than 5 % of the chat calls take longer than 2.5 s, of at least 5 within 10 minutes',
    );
  });

  it('take shares in percent, and send only the fields of their type', () => {
    const draft = {
      ...{ name: 'x', threshold: '7', severity: '', job_kind: 'chat', budget_id: 'bud_1' },
      ...{ window_minutes: '10', min_calls: '20' },
    };
    expect(fieldsOf({ ...draft, rule_type: 'budget_used' })).toEqual({
      ...{ name: 'x', rule_type: 'budget_used', threshold: 0.07, severity: null, job_kind: null, budget_id: 'bud_1' },
    });
    expect(fieldsOf({ ...draft, rule_type: 'error_rate' })).toMatchObject({
      threshold: 0.07,
      window_minutes: 10,
      min_calls: 20,
    });
    expect(fieldsOf({ ...draft, rule_type: 'latency_p95' })).toMatchObject({ threshold: 7, job_kind: 'chat' });
    expect(Object.keys(fieldsOf({ ...draft, rule_type: 'consecutive_failures' }))).not.toContain('budget_id');
    expect(typedThreshold({ rule_type: 'error_rate', threshold: 0.07 })).toBe('7');
    expect(typedThreshold({ rule_type: 'latency_p95', threshold: 0.07 })).toBe('0.07');
    expect(isComplete({ ...draft, rule_type: 'budget_used', budget_id: '' })).toBe(false);
    for (const min_calls of ['', '0', '1.5', 'x'])
      expect(isComplete({ ...draft, rule_type: 'error_rate', min_calls })).toBe(false);
    expect(isComplete({ ...draft, rule_type: 'error_rate' })).toBe(true);
  });
});
