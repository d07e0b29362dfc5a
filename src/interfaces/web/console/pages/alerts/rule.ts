/** Turns alert rules into sentences, and their previews into bars. */

import type { components } from '../../shared/openapi-types.js';

type Schemas = components['schemas'];
type Rule = Schemas['AlertRule'];

export type Condition = Pick<Rule, 'rule_type' | 'threshold'> &
  Partial<Pick<Rule, 'budget' | 'window_minutes' | 'min_calls'>> & { readonly job_kind?: string | null };

/** Returns a sentence that tells when a rule fires. */
export function conditionOf(rule: Condition): string {
  const { rule_type, threshold, job_kind } = rule;
  const kind = job_kind ? `${job_kind} ` : '';
  const one = `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}job`;
  if (rule_type === 'job_duration_exceeded') return `When ${one} runs longer than ${threshold} s`;
  if (rule_type === 'budget_used') return usedOf(rule);
  if (rule_type === 'latency_p95')
    return `When more than 5 % of the ${kind}calls take longer than ${threshold} s${withinOf(rule)}`;
  if (rule_type === 'error_rate') return `When ${percentOf(threshold)} of the ${kind}calls fail${withinOf(rule)}`;
  return threshold === 1 ? `When ${one} fails` : `When ${threshold} ${kind}jobs fail in a row`;
}

const percentOf = (share: number): string => `${Number((share * 100).toFixed(2))} %`;

function usedOf({ threshold, budget }: Condition): string {
  if (!budget) return 'Never: its budget is deleted';
  const period = budget.period === 'total' ? 'for all time' : `each ${budget.period}`;
  return `When ${percentOf(threshold)} of a budget (${budget.unit} of a ${budget.scope}, ${period}) are used`;
}

const withinOf = ({ window_minutes, min_calls }: Condition): string =>
  `, of at least ${min_calls} within ${window_minutes === 1 ? 'a minute' : `${window_minutes} minutes`}`;

/** The fields of the form, as typed text. A share is typed in percent. */
export interface RuleDraft {
  readonly name: string;
  readonly rule_type: Rule['rule_type'];
  readonly threshold: string;
  readonly job_kind: string;
  readonly severity: string;
  readonly budget_id: string;
  readonly window_minutes: string;
  readonly min_calls: string;
}

export const isWindowed = (type: Rule['rule_type']): boolean => type === 'latency_p95' || type === 'error_rate';
const isShare = (type: Rule['rule_type']): boolean => type === 'budget_used' || type === 'error_rate';

/** Returns the fields of a rule as the service takes them. */
export function fieldsOf(draft: RuleDraft) {
  const { name, rule_type, threshold, job_kind, severity, budget_id, window_minutes, min_calls } = draft;
  return {
    name,
    rule_type,
    threshold: isShare(rule_type) ? shareOf(threshold) : Number(threshold),
    severity: (severity || null) as Rule['severity'] | null,
    job_kind: rule_type === 'budget_used' ? null : ((job_kind || null) as Rule['job_kind']),
    ...(rule_type === 'budget_used' && { budget_id: budget_id || null }),
    ...(isWindowed(rule_type) && { window_minutes: Number(window_minutes), min_calls: Number(min_calls) }),
  };
}

/** Moves the point of the typed percentage, because a division could make a number with more decimal places. */
const shareOf = (percent: string): number => Number(`${percent.trim()}e-2`);

/** Returns the threshold of a rule as the user types it. */
export const typedThreshold = ({ rule_type, threshold }: Pick<Rule, 'rule_type' | 'threshold'>): string =>
  String(isShare(rule_type) ? Number((threshold * 100).toPrecision(12)) : threshold);

const isWhole = (text: string): boolean => /^\d+$/.test(text.trim()) && Number(text) >= 1;

/** Returns whether the fields are valid for the type, so that a preview is possible. The service checks them again. */
export function isComplete(
  draft: Pick<RuleDraft, 'rule_type' | 'threshold'> &
    Partial<Pick<RuleDraft, 'budget_id' | 'window_minutes' | 'min_calls'>>,
): boolean {
  const { rule_type, threshold, budget_id = '', window_minutes = '', min_calls = '' } = draft;
  const number = Number(threshold);
  if (threshold.trim() === '' || !Number.isFinite(number) || number <= 0) return false;
  if (rule_type === 'consecutive_failures') return Number.isInteger(number);
  if (rule_type === 'budget_used') return budget_id !== '';
  return !isWindowed(rule_type) || (isWhole(window_minutes) && isWhole(min_calls));
}

/** Divides the span into `count` equal parts, and returns how many of the `times` are in each part. */
export function binsOf(times: readonly number[], since: number, until: number, count: number): number[] {
  const bins = Array<number>(count).fill(0);
  for (const time of times) {
    const at = Math.floor(((time - since) / (until - since)) * count);
    const bin = Math.min(Math.max(at, 0), count - 1);
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  return bins;
}

export interface Spike {
  readonly at: number;
  readonly count: number;
}

/** Returns the first part of the span with the largest count, or null if all counts are 0. `at` is its start. */
export function spikeOf(bins: readonly number[], since: number, until: number): Spike | null {
  const count = Math.max(0, ...bins);
  if (count === 0) return null;
  return { count, at: since + (bins.indexOf(count) / bins.length) * (until - since) };
}
