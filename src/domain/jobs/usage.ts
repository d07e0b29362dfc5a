import type { Caller } from '../accounts/caller.js';
import { InvalidRequest } from '../shared/errors.js';
import { costText, type Nanos, nanosOfCost } from '../spend/cost.js';
import { type Job, type JobUsage, MASTER } from './job.js';

export const usageBuckets = ['minute', 'hour', 'day'] as const;
export type UsageBucket = (typeof usageBuckets)[number];

export const usageGroups = ['project', 'model', 'key', 'account'] as const;
export type UsageGroup = (typeof usageGroups)[number];

const SECOND_MS = 1_000;
const LENGTH_MS = { minute: 60 * SECOND_MS, hour: 3_600 * SECOND_MS, day: 86_400 * SECOND_MS } as const;
/** The default length of a period. */
const USUAL_MS = { minute: LENGTH_MS.hour, hour: LENGTH_MS.day, day: 30 * LENGTH_MS.day } as const;
const NEVER = new Date('9999-01-01T00:00:00Z');

/** Limits the entries of an answer. The newest are kept. */
export const MOST_ENTRIES = 4_000;

/** Usage by minute and by hour is stored for this time, so that it takes a fraction of the space of the calls. */
export const USAGE_KEPT_MS = { minute: LENGTH_MS.day, hour: 8 * LENGTH_MS.day, day: Number.POSITIVE_INFINITY } as const;

/** The fields of a finished call that are needed to count its usage. */
export interface EndedCall
  extends Pick<Job, 'id' | 'teamId' | 'projectId' | 'modelId' | 'requestedBy' | 'createdAt' | 'cost'> {
  readonly finishedAt: Date;
  readonly usage: JobUsage;
}

/** Counts values by bin: a bin, its count, the next bin, its count. Each bin is 10 % wider than the bin before. */
export type Histogram = readonly number[];

/** In seconds. They differ from the exact percentiles by less than 5 %. */
interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

interface Sums {
  readonly calls: number;
  /** Counts failed calls by the code of their error. */
  readonly failures: Readonly<Record<string, number>>;
  readonly tokensIn: number;
  readonly tokensOut: number;
}

/** The usage of some calls. `Usage.sum` can add several of these. */
export interface Usage extends Sums {
  readonly latency: Histogram;
  readonly firstToken: Histogram;
  /** The sum of the costs. Null: no call has a price. */
  readonly cost: Nanos | null;
}

/** The usage of some calls, as callers read it. */
interface UsageSummary extends Sums {
  readonly latency: Percentiles;
  /** The times to the first token. Null: no call reports its first token. */
  readonly firstToken: Percentiles | null;
  /** Text with nine decimal places. Null: no call has a price. */
  readonly cost: string | null;
}

interface Place {
  readonly start: Date;
  readonly group: string | null;
}

/** A part of the usage of a group in a bucket. */
export type UsagePart = Usage & Place;

/** The usage of a group in a bucket. */
export type UsageEntry = UsageSummary & Place;

export interface UsageQuery {
  /** The id of a team or an account. Null for all calls. */
  readonly scope: string | null;
  readonly since: Date;
  /** Exclusive. Null for no end. */
  readonly until: Date | null;
  readonly bucket: UsageBucket;
  /** With `projects`, calls can only be grouped by project. */
  readonly groupBy: UsageGroup | null;
  /** Only calls of these projects. Null: of all, and those without a project. */
  readonly projects?: readonly string[] | null;
}

/** A part of a period. It consists of whole buckets or of single calls. */
export interface UsagePiece {
  readonly of: UsageBucket | 'call';
  readonly from: Date;
  readonly to: Date;
}

const floor = (at: Date, bucket: UsageBucket): Date =>
  new Date(Math.floor(at.getTime() / LENGTH_MS[bucket]) * LENGTH_MS[bucket]);
const ceiling = (at: Date, bucket: UsageBucket): Date =>
  new Date(Math.ceil(at.getTime() / LENGTH_MS[bucket]) * LENGTH_MS[bucket]);

export const Usage = {
  of: ({ createdAt, finishedAt, usage, cost }: EndedCall): Usage => ({
    calls: 1,
    failures: usage.failure === null ? {} : { [usage.failure]: 1 },
    tokensIn: usage.tokensIn ?? 0,
    tokensOut: usage.tokensOut ?? 0,
    latency: Histogram.of((finishedAt.getTime() - createdAt.getTime()) / 1000),
    firstToken: usage.firstToken === null ? [] : Histogram.of(usage.firstToken),
    cost: cost === null ? null : nanosOfCost(cost),
  }),

  /** Requires at least one part. */
  sum(parts: readonly Usage[]): Usage {
    const [first] = parts as [Usage];
    if (parts.length === 1) return first;
    let { calls, tokensIn, tokensOut, cost } = first;
    const failures = { ...first.failures };
    for (const part of parts.slice(1)) {
      calls += part.calls;
      tokensIn += part.tokensIn;
      tokensOut += part.tokensOut;
      if (part.cost !== null) cost = (cost ?? 0n) + part.cost;
      for (const code in part.failures) failures[code] = (failures[code] ?? 0) + (part.failures[code] as number);
    }
    const latency = Histogram.sum(parts.map((part) => part.latency));
    const firstToken = Histogram.sum(parts.map((part) => part.firstToken));
    return { calls, failures, tokensIn, tokensOut, latency, firstToken, cost };
  },

  summary: ({ calls, failures, tokensIn, tokensOut, latency, firstToken, cost }: Usage): UsageSummary => ({
    calls,
    failures,
    tokensIn,
    tokensOut,
    latency: Histogram.percentiles(latency) as Percentiles, // every call has a latency
    firstToken: Histogram.percentiles(firstToken),
    cost: cost === null ? null : costText(cost),
  }),

  start: floor,

  /** Returns whether usage of this time is still stored by `bucket`. */
  isKept: (bucket: UsageBucket, at: Date, now: Date): boolean => now.getTime() - at.getTime() <= USAGE_KEPT_MS[bucket],

  groupOf({ projectId, modelId, requestedBy, usage }: EndedCall, by: UsageGroup | null): string | null {
    if (by === 'project') return projectId;
    if (by === 'model') return modelId;
    if (by === 'key') return usage.keyId;
    return by && requestedBy;
  },

  /** Lists the scopes of `UsageQuery` that include the call. */
  scopesOf: ({ teamId, requestedBy }: EndedCall): (string | null)[] => [
    null,
    ...(teamId === null ? [] : [teamId]),
    ...(requestedBy === MASTER ? [] : [requestedBy]),
  ],

  /**
   * Returns the scope that the caller may see. Members see their own calls. Other roles see the calls of their team.
   * The master key sees all calls. Admins and developers of the operator team see all calls too.
   */
  scopeSeenBy(caller: Caller): string | null {
    if (caller.kind === 'master') return null;
    if (caller.role === 'member') return caller.accountId;
    return caller.operator ? null : caller.teamId;
  },

  /** Adds a default `since`. Rounds old times down to the hour or the day. Throws InvalidRequest if `until` is before `since`. */
  period(bucket: UsageBucket, since: Date | null, until: Date | null, now: Date): Pick<UsageQuery, 'since' | 'until'> {
    const usual = new Date((until ?? now).getTime() - USUAL_MS[bucket]);
    const begin = since ?? floor(usual, bucket);
    if (begin > (until ?? NEVER)) throw new InvalidRequest([{ path: 'until', message: 'must not be before since' }]);
    const rounded = (at: Date) => {
      if (!Usage.isKept('hour', floor(at, 'hour'), now)) return floor(at, 'day');
      return Usage.isKept('minute', floor(at, 'minute'), now) ? at : floor(at, 'hour');
    };
    return { since: rounded(begin), until: until && rounded(until) };
  },

  /** Divides a period into whole buckets, as large as possible, and pieces of single calls at its beginning and end. */
  pieces({ since, until, bucket }: UsageQuery): UsagePiece[] {
    const sizes = usageBuckets.slice(0, usageBuckets.indexOf(bucket) + 1).reverse();
    return pieces(since, until ?? NEVER, sizes);
  },

  /** Sums parts by bucket and group. Sorts by start, then by group. Keeps the newest. */
  entries(parts: readonly UsagePart[], bucket: UsageBucket): UsageEntry[] {
    const groups = new Map<string, UsagePart[]>();
    for (const part of parts) {
      const key = `${floor(part.start, bucket).getTime()} ${part.group ?? ''}`;
      const known = groups.get(key);
      if (known) known.push(part);
      else groups.set(key, [part]);
    }
    const summed = [...groups.values()].map((same): UsageEntry => {
      const [{ start, group }] = same as [UsagePart];
      return { ...Usage.summary(Usage.sum(same)), start: floor(start, bucket), group };
    });
    return summed.sort(byStartAndGroup).slice(-MOST_ENTRIES);
  },
};

function byStartAndGroup(one: Place, other: Place): number {
  const byStart = one.start.getTime() - other.start.getTime();
  return byStart || ((one.group ?? '') < (other.group ?? '') ? -1 : 1);
}

function pieces(from: Date, to: Date, [of, ...finer]: readonly UsageBucket[]): UsagePiece[] {
  if (from >= to) return [];
  if (!of) return [{ of: 'call', from, to }];
  const [first, last] = [ceiling(from, of), to === NEVER ? to : floor(to, of)];
  if (first >= last) return pieces(from, to, finer);
  return [...pieces(from, first, finer), { of, from: first, to: last }, ...pieces(last, to, finer)];
}

/** The upper bound of the first bin, in seconds. Smaller values count as 0. */
const LEAST = 0.001;
const GROWTH = 1.1;

const BINS = 300;

const binOf = (seconds: number): number =>
  seconds < LEAST ? 0 : Math.min(BINS - 1, 1 + Math.floor(Math.log(seconds / LEAST) / Math.log(GROWTH)));

/** The value in seconds that stands for each bin. It differs from the lower and the upper bound by 4.8 %. */
const SECONDS = Array.from({ length: BINS }, (_, bin) =>
  bin === 0 ? 0 : Number(((LEAST * GROWTH ** (bin - 1) * 2 * GROWTH) / (1 + GROWTH)).toPrecision(4)),
);

export const Histogram = {
  of: (value: number): Histogram => [binOf(value), 1],

  sum(parts: readonly Histogram[]): Histogram {
    const counts: number[] = [];
    for (const part of parts) {
      for (let at = 0; at < part.length; at += 2) {
        const bin = part[at] as number;
        counts[bin] = (counts[bin] ?? 0) + (part[at + 1] as number);
      }
    }
    const sum: number[] = [];
    counts.forEach((count, bin) => void sum.push(bin, count));
    return sum;
  },

  /** Returns nearest-rank percentiles, or null without values. */
  percentiles(histogram: Histogram): Percentiles | null {
    let count = 0;
    for (let at = 1; at < histogram.length; at += 2) count += histogram[at] as number;
    if (count === 0) return null;
    let [at, passed] = [-2, 0];
    const next = (part: number) => {
      while (passed < part * count) {
        at += 2;
        passed += histogram[at + 1] as number;
      }
      return SECONDS[histogram[at] as number] as number;
    };
    return { p50: next(0.5), p95: next(0.95), p99: next(0.99) };
  },
};
