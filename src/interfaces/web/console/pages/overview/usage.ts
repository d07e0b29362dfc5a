import { summedCost } from '../../shared/format.js';
import type { components } from '../../shared/openapi-types.js';

type Summary = components['schemas']['UsageSummary'];
type Bucket = components['schemas']['Usage'];
type Times = Bucket['latency'];

/** The time ranges of the overview. The service keeps buckets of one minute for a day. */
export const ranges = {
  '1h': { title: '1 hour', bucket: 'minute', seconds: 3600, step: 60 },
  '24h': { title: '24 hours', bucket: 'hour', seconds: 86_400, step: 3600 },
  '7d': { title: '7 days', bucket: 'hour', seconds: 7 * 86_400, step: 3600 },
} as const;

export type RangeName = keyof typeof ranges;

/** Returns the name of a range, or the shortest range if there is no such name. */
export const rangeNamed = (name: string | null): RangeName =>
  (Object.hasOwn(ranges, name ?? '') ? name : '1h') as RangeName;

export interface UsageFigures {
  readonly calls: number;
  readonly callsPerMinute: number;
  /** The share of failed calls from 0 to 1, or null if there was no call. */
  readonly errorShare: number | null;
  readonly tokensPerSecond: number;
  readonly latency: Percentiles | null;
  readonly firstToken: Percentiles | null;
  /** For people. Null: no call has a price. */
  readonly cost: string | null;
}

interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** Returns the tokens that were made between two times in seconds. */
export type TokensBetween = (from: number, to: number) => number;

type EndedJob = Pick<components['schemas']['Job'], 'started_at' | 'finished_at' | 'result'>;

/**
 * Counts the tokens in the answers of evaluations, which are no calls, so that the usage does not have them. Spreads
 * them evenly over the run of each evaluation.
 */
export function evaluatedTokens(evaluations: readonly EndedJob[]): TokensBetween {
  const runs = evaluations.flatMap(({ started_at: start, finished_at: end, result }) => {
    const { completion } = (result as { tokens?: { completion: number } } | null)?.tokens ?? {};
    return start !== null && end !== null && completion ? [{ start, end: Math.max(end, start + 1), completion }] : [];
  });
  return (from, to) =>
    runs.reduce((sum, { start, end, completion }) => {
      const seconds = Math.max(0, Math.min(end, to) - Math.max(start, from));
      return sum + (completion * seconds) / (end - start);
    }, 0);
}

/** Returns the totals of all buckets. `others` are tokens beside those of calls. */
export function figuresOf({ since, until, usage }: Summary, others: TokensBetween = () => 0): UsageFigures {
  const seconds = Math.max(until - since, 1);
  const sum = (of: (bucket: Bucket) => number) => usage.reduce((total, bucket) => total + of(bucket), 0);
  const calls = sum((bucket) => bucket.calls);
  return {
    calls,
    callsPerMinute: (calls * 60) / seconds,
    errorShare: calls === 0 ? null : sum(failed) / calls,
    tokensPerSecond: (sum((bucket) => bucket.tokens_out) + others(since, until)) / seconds,
    latency: percentilesOf(usage.map((bucket) => [bucket.calls, bucket.latency])),
    firstToken: percentilesOf(usage.map((bucket) => [bucket.calls, bucket.time_to_first_token])),
    cost: summedCost(usage.map(({ cost }) => cost)),
  };
}

const failed = ({ failures }: Bucket): number => Object.values(failures).reduce((sum, count) => sum + count, 0);

/**
 * Estimates the percentiles of all buckets together from the percentiles of each bucket. The result is exact for one
 * bucket, and for buckets of one call. Assumes that half of a bucket's calls took as long as its median, 45 % as long
 * as its 95th percentile, and 5 % as long as its 99th.
 */
function percentilesOf(buckets: readonly (readonly [calls: number, times: Times | null])[]): Percentiles | null {
  const parts = buckets
    .flatMap(([calls, times]) =>
      times
        ? [[times.p50, calls * 0.5] as const, [times.p95, calls * 0.45] as const, [times.p99, calls * 0.05] as const]
        : [],
    )
    .sort(([one], [other]) => one - other);
  const total = parts.reduce((sum, [, weight]) => sum + weight, 0);
  if (total === 0) return null;
  const at = (share: number) => {
    let left = share * total - 1e-6; // Sums of fractions have rounding errors.
    for (const [seconds, weight] of parts) {
      left -= weight;
      if (left <= 0) return seconds;
    }
    return 0;
  };
  return { p50: at(0.5), p95: at(0.95) };
}

export interface UsageSeries {
  /** The start of every bucket in the range, also of empty buckets. */
  readonly times: readonly number[];
  readonly callsPerMinute: readonly number[];
  readonly failuresPerMinute: readonly number[];
  readonly tokensPerSecond: readonly number[];
  readonly latency: Lines;
  readonly firstToken: Lines;
}

interface Lines {
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
}

/** Returns a value for every `step` seconds of the range. An empty bucket has no calls and no latency. */
export function seriesOf({ since, until, usage }: Summary, step: number, others: TokensBetween = () => 0): UsageSeries {
  const first = Math.floor(since / step) * step;
  const times = Array.from(
    { length: Math.max(Math.ceil((until - first) / step), 1) },
    (_, index) => first + index * step,
  );
  const byStart = new Map(usage.map((bucket) => [bucket.start, bucket]));
  const buckets = times.map((start) => byStart.get(start));
  const each = (of: (bucket: Bucket) => number) => buckets.map((bucket) => (bucket ? of(bucket) : 0));
  const linesOf = (of: (bucket: Bucket) => Times | null): Lines => ({
    p50: buckets.map((bucket) => (bucket && of(bucket)?.p50) ?? null),
    p95: buckets.map((bucket) => (bucket && of(bucket)?.p95) ?? null),
  });
  return {
    times,
    callsPerMinute: each(({ calls }) => (calls * 60) / step),
    failuresPerMinute: each((bucket) => (failed(bucket) * 60) / step),
    tokensPerSecond: times.map(
      (start, index) => ((buckets[index]?.tokens_out ?? 0) + others(start, start + step)) / step,
    ),
    latency: linesOf(({ latency }) => latency),
    firstToken: linesOf((bucket) => bucket.time_to_first_token),
  };
}
