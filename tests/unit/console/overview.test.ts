import { progressOf } from '../../../src/interfaces/web/console/pages/overview/steps.js';
import { figuresOf, rangeNamed, seriesOf } from '../../../src/interfaces/web/console/pages/overview/usage.js';

const HOUR = { since: 1_763_683_200, until: 1_763_686_800 };
const same = (seconds: number) => ({ p50: seconds, p95: seconds, p99: seconds });
const bucket = (minute: number, more: object = {}) => ({
  ...{ start: HOUR.since + minute * 60, group: null, calls: 1, failures: {}, tokens_in: 1, tokens_out: 10 },
  ...{ latency: same(1), time_to_first_token: null, ...more },
});
const summary = (...usage: ReturnType<typeof bucket>[]) => ({ ...HOUR, usage, count: usage.length });

describe('figures of usage', () => {
  it('has zeros and nulls without any calls', () => {
    const { series, ...figures } = { ...figuresOf(summary()), series: seriesOf(summary(), 60) };
    expect(figures).toEqual({
      ...{ calls: 0, callsPerMinute: 0, errorShare: null, tokensPerSecond: 0 },
      ...{ latency: null, firstToken: null },
    });
    expect(series.times).toHaveLength(60);
    expect(series.latency.p50.every((value) => value === null)).toBe(true);
  });

  it('sums calls, failures and tokens over the whole time', () => {
    const usage = summary(
      bucket(0, { calls: 90, failures: { inference_timeout: 2, runtime_unavailable: 1 }, tokens_out: 3000 }),
      bucket(59, { calls: 30, tokens_out: 600 }),
    );
    expect(figuresOf(usage)).toMatchObject({ calls: 120, callsPerMinute: 2, errorShare: 0.025, tokensPerSecond: 1 });
  });

  it('has the percentiles of a single bucket unchanged, and weighs several buckets by their calls', () => {
    const one = bucket(0, { calls: 7, latency: { p50: 0.2, p95: 0.5, p99: 0.9 }, time_to_first_token: same(0.1) });
    expect(figuresOf(summary(one))).toMatchObject({ latency: { p50: 0.2, p95: 0.5 }, firstToken: { p50: 0.1 } });
    const single = [3, 1, 2, 5, 4].map((seconds, minute) => bucket(minute, { latency: same(seconds) }));
    expect(figuresOf(summary(...single)).latency).toEqual({ p50: 3, p95: 5 });
    const busy = bucket(9, { calls: 1000, latency: same(0.1) });
    expect(figuresOf(summary(...single, busy)).latency).toEqual({ p50: 0.1, p95: 0.1 });
    expect(figuresOf(summary(bucket(1), one)).firstToken).toEqual({ p50: 0.1, p95: 0.1 });
  });

  it('makes series per minute and per second, with gaps for times without calls', () => {
    const usage = {
      ...HOUR,
      since: HOUR.since + 30,
      usage: [bucket(1, { failures: { busy: 1 }, tokens_out: 120 })],
      count: 1,
    };
    const minutes = seriesOf(usage, 60);
    expect(minutes.times.slice(0, 2)).toEqual([HOUR.since, HOUR.since + 60]);
    expect(minutes.callsPerMinute.slice(0, 3)).toEqual([0, 1, 0]);
    expect(minutes.failuresPerMinute.slice(0, 3)).toEqual([0, 1, 0]);
    expect(minutes.tokensPerSecond.slice(0, 3)).toEqual([0, 2, 0]);
    expect(minutes.latency.p95.slice(0, 3)).toEqual([null, 1, null]);
    const hours = seriesOf({ ...HOUR, usage: [bucket(0, { calls: 120 })], count: 1 }, 3600);
    expect([hours.times, hours.callsPerMinute]).toEqual([[HOUR.since], [2]]);
  });

  it('reads an unknown range as 1h', () => {
    expect(['24h', '7d', '1h', 'toString', '', null].map(rangeNamed)).toEqual(['24h', '7d', '1h', '1h', '1h', '1h']);
  });
});

describe('the steps to a first answer', () => {
  const runtime = (name: string, state: 'not_connected' | 'stopped' | 'loading' | 'ready' | 'unavailable') => ({
    ...{ project_id: name, project_name: name, state, reason: null },
  });
  it.each([
    ['project', []],
    ['model', [runtime('newest', 'not_connected'), runtime('older', 'not_connected')]],
    ['runtime', [runtime('older', 'not_connected'), runtime('newest', 'stopped')]],
    ['runtime', [runtime('newest', 'loading'), runtime('older', 'unavailable')]],
    ['question', [runtime('older', 'loading'), runtime('newest', 'ready'), runtime('oldest', 'ready')]],
  ] as const)('continue with the %s of the project that is furthest', (next, runtimes) => {
    const progress = progressOf(runtimes);
    expect([progress.next, progress.project?.project_id]).toEqual([next, runtimes.length > 0 ? 'newest' : undefined]);
  });
});
