/** Turns alert rules into sentences, and their previews into bars. */

export interface Condition {
  readonly rule_type: 'consecutive_failures' | 'job_duration_exceeded';
  readonly threshold: number;
  readonly job_kind?: string | null;
}

/** Returns a sentence that tells when a rule fires. */
export function conditionOf({ rule_type, threshold, job_kind }: Condition): string {
  const kind = job_kind ? `${job_kind} ` : '';
  const one = `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}job`;
  if (rule_type === 'job_duration_exceeded') return `When ${one} runs longer than ${threshold} s`;
  return threshold === 1 ? `When ${one} fails` : `When ${threshold} ${kind}jobs fail in a row`;
}

/** The fields of the form, as typed text. */
export interface RuleDraft {
  readonly name: string;
  readonly rule_type: Condition['rule_type'];
  readonly threshold: string;
  readonly job_kind: string;
  readonly severity: string;
}

/** Returns whether the threshold is valid for the type, so that a preview is possible. The service checks it again. */
export function isComplete({ rule_type, threshold }: Pick<RuleDraft, 'rule_type' | 'threshold'>): boolean {
  const number = Number(threshold);
  if (threshold.trim() === '' || !Number.isFinite(number) || number <= 0) return false;
  return rule_type === 'job_duration_exceeded' || Number.isInteger(number);
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
