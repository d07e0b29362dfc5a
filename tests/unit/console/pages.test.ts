import { oneByOne, type PacingState, quotaOf } from '../../../src/interfaces/web/console/pages/alerts/pacing.js';
import { binsOf, conditionOf, isComplete, spikeOf } from '../../../src/interfaces/web/console/pages/alerts/rule.js';
import {
  isComparable,
  type Job,
  metricOf,
  pick,
  type Result,
  type Summary,
  summaryOf,
} from '../../../src/interfaces/web/console/pages/evaluations/summary.js';
import {
  countsOf,
  type Instance,
  readiness,
  versionsOf,
} from '../../../src/interfaces/web/console/pages/overview/instances.js';
import { progressOf } from '../../../src/interfaces/web/console/pages/overview/steps.js';
import {
  evaluatedTokens,
  figuresOf,
  rangeNamed,
  seriesOf,
} from '../../../src/interfaces/web/console/pages/overview/usage.js';
import { diffLines, foldUnchanged } from '../../../src/interfaces/web/console/shared/diff.js';

const signs = { same: ' ', removed: '-', added: '+' };
const written = (before: string, after: string, most?: number) =>
  diffLines(before, after, most).map(({ kind, text }) => signs[kind] + text);

describe('diffLines', () => {
  it('returns unchanged, removed and added lines, with their numbers in both texts', () => {
    expect(written('a\nb\nc\nd', 'a\nc\nx\nd')).toEqual([' a', '-b', ' c', '+x', ' d']);
    expect(written('same', 'same')).toEqual([' same']);
    expect(written('', 'new')).toEqual(['-', '+new']);
    expect(written('a\nb', 'c')).toEqual(['-a', '-b', '+c']);
    expect(diffLines('a\nb\nc', 'a\nx\nc').map(({ before, after }) => [before, after])).toEqual([
      [1, 1],
      [2, null],
      [null, 2],
      [3, 3],
    ]);
  });

  it('finds the fewest changes, and both texts can be made from them', () => {
    expect(written('a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc').filter((line) => !line.startsWith(' '))).toHaveLength(5);
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const text = () => Array.from({ length: random(12) }, () => 'abc'[random(3)]).join('\n');
    for (let round = 0; round < 500; round += 1) {
      const [before, after] = [text(), text()];
      const lines = diffLines(before, after);
      const without = (kind: string) => lines.filter((line) => line.kind !== kind).map((line) => line.text);
      expect(without('added').join('\n')).toBe(before);
      expect(without('removed').join('\n')).toBe(after);
      const kept = lines.filter(({ kind }) => kind === 'same').length;
      expect(kept).toBe(longestCommon(before.split('\n'), after.split('\n')));
    }
  });

  it('treats texts with too many differences as wholly different, and takes less than a second', () => {
    expect(written('a\nb\nkept\nc', 'x\ny\nkept\nz', 3)).toEqual([
      '-a',
      '-b',
      '-kept',
      '-c',
      '+x',
      '+y',
      '+kept',
      '+z',
    ]);
    const lines = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join('\n');
    const start = performance.now();
    expect(diffLines(lines('old'), lines('new'))).toHaveLength(40_000);
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it('returns lines that `foldUnchanged` folds if they are far from a change', () => {
    const lines = diffLines('1\n2\n3\n4\n5\n6\n7', '1\n2\n3\n4\n5\n6\nx');
    expect(foldUnchanged(lines, 2).map(({ folded, lines: part }) => [folded, part.length])).toEqual([
      [true, 4],
      [false, 4],
    ]);
    expect(foldUnchanged(diffLines('a', 'a'))).toMatchObject([{ folded: true }]);
  });
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const left of a) {
    const next = [0];
    for (const [j, right] of b.entries())
      next.push(left === right ? (row[j] as number) + 1 : Math.max(row[j + 1] as number, next[j] as number));
    row = next;
  }
  return row.at(-1) as number;
}

const row = (record_id: string, more: Partial<Result>): Result => ({
  ...{ record_id, group: null, input: 'q', expected: ['Paris'], output: 'a', score: 1, latency: 1 },
  ...{ tokens: null, error: null, model_id: null },
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

const HOUR = { since: 1_763_683_200, until: 1_763_686_800, currency: 'USD' };
const same = (seconds: number) => ({ p50: seconds, p95: seconds, p99: seconds });
const bucket = (minute: number, more: object = {}) => ({
  ...{ start: HOUR.since + minute * 60, group: null, calls: 1, failures: {}, tokens_in: 1, tokens_out: 10 },
  ...{ latency: same(1), time_to_first_token: null, cost: null, ...more },
});
const summary = (...usage: ReturnType<typeof bucket>[]) => ({ ...HOUR, usage, count: usage.length });

describe('figures of usage', () => {
  it('has zeros and nulls without any calls', () => {
    const { series, ...figures } = { ...figuresOf(summary()), series: seriesOf(summary(), 60) };
    expect(figures).toEqual({
      ...{ calls: 0, callsPerMinute: 0, errorShare: null, tokensPerSecond: 0 },
      ...{ latency: null, firstToken: null, cost: null },
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

  it('sums costs exactly, and tells whether there is a price', () => {
    const costs = ['0.100000000', '0.200000000', null].map((cost, minute) => bucket(minute, { cost }));
    expect(figuresOf(summary(...costs)).cost).toBe('0.3');
    expect(figuresOf(summary(bucket(0, { cost: '9007199254740993.000000001' }))).cost).toBe(
      '9,007,199,254,740,993.000000001',
    );
    expect(figuresOf(summary(bucket(0))).cost).toBeNull();
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

  it('counts the tokens of evaluations too, spread over the time of each run', () => {
    const run = (from: number, to: number | null, completion: number | null) => ({
      started_at: HOUR.since + from,
      finished_at: to === null ? null : HOUR.since + to,
      result: { tokens: completion && { prompt: 5, completion } } as never,
    });
    const runs = [run(-60, 60, 1200), run(60, 180, 600), run(90, null, 100), run(90, 95, null), run(3000, 3000, 36)];
    const tokens = evaluatedTokens([...runs, { started_at: null, finished_at: HOUR.until, result: null }]);
    const usage = summary(bucket(1, { tokens_out: 60 }));
    expect(figuresOf(usage, tokens).tokensPerSecond).toBeCloseTo((600 + 600 + 36 + 60) / 3600);
    const { tokensPerSecond } = seriesOf(usage, 60, tokens);
    expect(tokensPerSecond.slice(0, 4)).toEqual([10, 5 + 1, 5, 0]);
    expect(tokensPerSecond[50]).toBeCloseTo(36 / 60);
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

describe('oneByOne', () => {
  const plenty = { remaining: 100, limit: 120, seconds: 1 };
  const run = async (items: readonly number[], act: (item: number) => Promise<typeof plenty>, stopAfter = Infinity) => {
    const progress: PacingState[] = [];
    const waits: number[] = [];
    await oneByOne(items, act, {
      tell: (far) => progress.push(far),
      wait: async (seconds) => void waits.push(seconds),
      stopped: () => (progress.at(-1)?.done ?? 0) >= stopAfter,
    });
    return { progress, waits };
  };

  it('makes the calls one after another and reports the progress', async () => {
    const seen: number[] = [];
    const { progress, waits } = await run([7, 8], async (item) => {
      seen.push(item);
      return plenty;
    });
    expect([seen, waits]).toEqual([[7, 8], []]);
    expect(progress.map(({ done }) => done)).toEqual([0, 1, 2]);
  });

  it('waits between calls while little of the rate limit is left', async () => {
    const { waits } = await run([1, 2, 3], async () => ({ remaining: 20, limit: 120, seconds: 9 }));
    expect(waits).toEqual([9, 9]);
  });

  it('waits and repeats a call after a refusal by the rate limit, and throws other refusals', async () => {
    let calls = 0;
    const { progress, waits } = await run([1, 2], async () => {
      calls += 1;
      if (calls === 2) throw { status: 429, retryAfter: 12 };
      return plenty;
    });
    expect([calls, waits, progress.at(-1)?.done]).toEqual([3, [12], 2]);
    expect(progress).toContainEqual({ done: 1, all: 2, waits: 12 });
    await expect(run([1], () => Promise.reject({ status: 404 }))).rejects.toEqual({ status: 404 });
  });

  it('stops before the next item', async () => {
    expect((await run([1, 2, 3], async () => plenty, 1)).progress.at(-1)?.done).toBe(1);
  });

  it('reads the quota from the headers of an answer', () => {
    const headers = new Headers({
      RateLimit: '"default";r=3;t=12',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-limit-requests': '120',
    });
    expect(quotaOf(headers)).toEqual({ remaining: 3, limit: 120, seconds: 12 });
  });
});

describe('alert rules in words and bars', () => {
  it('say when a rule fires', () => {
    const when = (rule_type: 'consecutive_failures' | 'job_duration_exceeded', threshold: number, job_kind?: string) =>
      conditionOf({ rule_type, threshold, job_kind });
    expect(when('consecutive_failures', 1)).toBe('When a job fails');
    expect(when('consecutive_failures', 3, 'chat')).toBe('When 3 chat jobs fail in a row');
    expect(when('job_duration_exceeded', 0.5, 'evaluation')).toBe('When an evaluation job runs longer than 0.5 s');
    expect(when('job_duration_exceeded', 60)).toBe('When a job runs longer than 60 s');
  });

  it('are complete only with a valid threshold', () => {
    const complete = (rule_type: 'consecutive_failures' | 'job_duration_exceeded', threshold: string) =>
      isComplete({ rule_type, threshold });
    expect(['3', '1e2'].map((text) => complete('consecutive_failures', text))).toEqual([true, true]);
    expect(['', '0', '-1', '1.5', 'x'].map((text) => complete('consecutive_failures', text))).not.toContain(true);
    expect(complete('job_duration_exceeded', '1.5')).toBe(true);
  });

  it('have bars that count alerts in equal parts of the span, and a highest bar', () => {
    const bins = binsOf([0, 1, 9.9, 10, 55, 100], 0, 100, 10);
    expect(bins).toEqual([3, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect(spikeOf(bins, 0, 100)).toEqual({ count: 3, at: 0 });
    expect(spikeOf([0, 0], 0, 100)).toBeNull();
  });
});

describe('the instances', () => {
  const runtimes = (...states: Instance['runtimes'][number]['state'][]): Instance['runtimes'] =>
    states.map((state, n) => ({ project_id: `prj_${n}`, model_id: `mdl_${n}`, state, waiting: 0 }));

  it('tell their versions, that of the oldest first', () => {
    const of = (...versions: string[]) => versionsOf(versions.map((version) => ({ version }) as Instance));
    expect(of('1.0.0', '1.0.0')).toEqual(['1.0.0']);
    expect(of('1.0.0', '1.1.0', '1.0.0')).toEqual(['1.0.0', '1.1.0']);
  });

  it('tell how many runtimes are ready, and name some of the others', () => {
    expect(readiness([])).toEqual({ ready: 0, named: [], more: 0 });
    const all = runtimes('ready', 'loading', 'unavailable', 'ready', 'loading', 'loading');
    const { ready, named, more } = readiness(all);
    expect({ ready, more }).toEqual({ ready: 2, more: 1 });
    expect(named).toEqual([all[1], all[2], all[4]]);
  });

  it('count their deployments by status', () => {
    expect(countsOf(['running', 'stopped', 'running'])).toEqual([
      ['running', 2],
      ['stopped', 1],
    ]);
  });
});
