import { type FinishedJob, Job, type JobKind } from '../jobs/job.js';
import { type Finding, InvalidRequest } from '../shared/errors.js';

export const ruleTypes = ['consecutive_failures', 'job_duration_exceeded'] as const;
export type RuleType = (typeof ruleTypes)[number];

export const severities = ['P1', 'P2', 'P3', 'P4'] as const;
export type Severity = (typeof severities)[number];

/** Tells which finished jobs fire an alert. */
export interface AlertRule {
  readonly id: string;
  readonly name: string;
  readonly ruleType: RuleType;
  /** Jobs in a row for `consecutive_failures`, seconds for `job_duration_exceeded`. */
  readonly threshold: number;
  /** Null: jobs of every kind. */
  readonly jobKind: JobKind | null;
  readonly severity: Severity;
  /** A disabled rule keeps counting and fires nothing. */
  readonly enabled: boolean;
  readonly createdAt: Date;
  /** The number of failed jobs since the last success, at most `ruleLimits.failures`. */
  readonly failuresInARow: number;
  /** True if the rule has fired since the last success. */
  readonly firedInRun: boolean;
}

/** `nameLength` counts Unicode code points. */
export const ruleLimits = { rules: 100, nameLength: 200, failures: 10_000, seconds: 1_000_000_000 } as const;

const usualSeverity: Record<RuleType, Severity> = { consecutive_failures: 'P1', job_duration_exceeded: 'P2' };

export interface RuleInput extends Pick<AlertRule, 'name' | 'ruleType' | 'threshold'> {
  readonly jobKind?: JobKind | null;
  readonly severity?: Severity | null;
}
export type RuleChange = Partial<Pick<AlertRule, 'name' | 'threshold' | 'severity' | 'enabled'>>;

type Draft = RuleInput & Pick<AlertRule, 'id' | 'createdAt'> & { failuresInARow?: number };

export const AlertRule = {
  /** Throws InvalidRequest. */
  create({ jobKind = null, severity, failuresInARow = 0, ...input }: Draft): AlertRule {
    const rule = { ...input, jobKind, severity: severity ?? usualSeverity[input.ruleType], enabled: true };
    return checked({ ...rule, failuresInARow, firedInRun: false });
  },

  /** Throws InvalidRequest. */
  change: (rule: AlertRule, change: RuleChange): AlertRule => checked({ ...rule, ...change }),

  /**
   * Returns the rule after one more finished job, and whether the rule fires. Returns the same rule object if the job
   * changes nothing. A preview of a rule calls this method too, so it shows exactly the jobs that would fire the rule.
   */
  observe(rule: AlertRule, job: FinishedJob): { rule: AlertRule; fires: boolean } {
    if (rule.jobKind !== null && rule.jobKind !== job.kind) return { rule, fires: false };
    if (rule.ruleType === 'consecutive_failures') return observeFailures(rule, job);
    return { rule, fires: rule.enabled && (Job.duration(job) ?? 0) > rule.threshold };
  },
};

function observeFailures(rule: AlertRule, { status }: FinishedJob): { rule: AlertRule; fires: boolean } {
  if (status === 'cancelled') return { rule, fires: false };
  if (status === 'succeeded') {
    const isUnchanged = rule.failuresInARow === 0 && !rule.firedInRun;
    return { rule: isUnchanged ? rule : { ...rule, failuresInARow: 0, firedInRun: false }, fires: false };
  }
  const failuresInARow = Math.min(rule.failuresInARow + 1, ruleLimits.failures);
  const fires = rule.enabled && !rule.firedInRun && failuresInARow >= rule.threshold;
  return { rule: { ...rule, failuresInARow, firedInRun: rule.firedInRun || fires }, fires };
}

function checked(typed: AlertRule): AlertRule {
  const rule = { ...typed, name: typed.name.trim() };
  const length = [...rule.name].length;
  const findings: Finding[] = [];
  if (length < 1 || length > ruleLimits.nameLength)
    findings.push({ path: 'name', message: `must have 1 to ${ruleLimits.nameLength} characters` });
  const wrong = thresholdProblem(rule);
  if (wrong) findings.push({ path: 'threshold', message: wrong });
  if (findings.length > 0) throw new InvalidRequest(findings);
  return rule;
}

function thresholdProblem({ ruleType, threshold }: AlertRule): string | null {
  if (ruleType === 'consecutive_failures') {
    const fits = Number.isInteger(threshold) && threshold >= 1 && threshold <= ruleLimits.failures;
    return fits ? null : `must be a whole number from 1 to ${ruleLimits.failures}: jobs in a row`;
  }
  const fits = threshold > 0 && threshold <= ruleLimits.seconds;
  return fits ? null : `must be above 0 and at most ${ruleLimits.seconds}: seconds`;
}
