import { amountOf, nanosOf } from '../../shared/amounts.js';
import type { components } from '../../shared/openapi-types.js';

type Summary = components['schemas']['UsageSummary'];
type Entry = components['schemas']['Usage'];

/** The ranges of the page. The service keeps buckets of one hour for eight days. */
export const costRanges = {
  '24h': { title: '24 hours', bucket: 'hour', step: 3_600 },
  '30d': { title: '30 days', bucket: 'day', step: 86_400 },
} as const;
export type CostRange = keyof typeof costRanges;

export const costRangeNamed = (name: string | null): CostRange =>
  (Object.hasOwn(costRanges, name ?? '') ? name : '30d') as CostRange;

/** The costs of the calls of one group. */
export interface GroupSums {
  readonly group: string | null;
  readonly calls: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly tokens_in: number;
  readonly tokens_out: number;
  /** In billionths. Null: no call has a price. */
  readonly cost: bigint | null;
}

const sumOf = (one: bigint | null, other: bigint | null): bigint | null =>
  one === null || other === null ? (one ?? other) : one + other;

const sumsOf = ({ group, calls, failures, tokens_in, tokens_out, cost }: Entry): GroupSums => {
  return { group, calls, failures, tokens_in, tokens_out, cost: cost === null ? null : nanosOf(cost) };
};

/** Adds up the entries of each group. The dearest is the first. */
export function groupSums(usage: readonly Entry[]): GroupSums[] {
  const groups = new Map<string | null, GroupSums>();
  for (const entry of usage) {
    const [known, more] = [groups.get(entry.group), sumsOf(entry)];
    groups.set(entry.group, known ? joined(known, more) : more);
  }
  const price = ({ cost }: GroupSums) => cost ?? -1n;
  return [...groups.values()].sort((a, b) =>
    price(a) === price(b) ? b.calls - a.calls : price(a) < price(b) ? 1 : -1,
  );
}

function joined(one: GroupSums, more: GroupSums): GroupSums {
  const failures: Record<string, number> = { ...one.failures };
  for (const [code, count] of Object.entries(more.failures)) failures[code] = (failures[code] ?? 0) + count;
  return {
    group: one.group,
    calls: one.calls + more.calls,
    failures,
    tokens_in: one.tokens_in + more.tokens_in,
    tokens_out: one.tokens_out + more.tokens_out,
    cost: sumOf(one.cost, more.cost),
  };
}

/** Returns the sum of all groups as an exact amount. Null: no call has a price. */
export function totalCost(groups: readonly GroupSums[]): string | null {
  const total = groups.reduce<bigint | null>((sum, { cost }) => sumOf(sum, cost), null);
  return total === null ? null : amountOf(total);
}

/** Returns the start of each bucket, and the cost of each group in it, which is good enough for a chart. */
export function costSeries({ since, until, usage }: Summary, step: number, groups: readonly (string | null)[]) {
  const first = Math.floor(since / step) * step;
  const count = Math.max(Math.ceil((until - first) / step), 1);
  const times = Array.from({ length: count }, (_, index) => first + index * step);
  const lines = groups.map((group) => {
    const costs = new Map(usage.filter((entry) => entry.group === group).map(({ start, cost }) => [start, cost]));
    return times.map((time) => Number(costs.get(time) ?? 0));
  });
  return { times, lines };
}
