import { type CallKind, callKinds, type FinishedJob, Job, type JobKind } from '../jobs/job.js';
import { type Finding, InvalidRequest } from '../shared/errors.js';
import { atMost } from '../shared/text.js';
import { Budget } from '../spend/budget.js';
import { type Nanos, nanosOfNumber } from '../spend/cost.js';
import { type CallCounts, CallWindow } from './call-window.js';

export const ruleTypes = [
  'consecutive_failures',
  'job_duration_exceeded',
  'budget_used',
  'latency_p95',
  'error_rate',
] as const;
export type RuleType = (typeof ruleTypes)[number];

/** The types of rules that look at all calls of the last minutes. */
export const windowTypes = ['latency_p95', 'error_rate'] as const satisfies RuleType[];
export type WindowType = (typeof windowTypes)[number];

export const severities = ['P1', 'P2', 'P3', 'P4'] as const;
export type Severity = (typeof severities)[number];

/** Tells which finished jobs fire an alert. */
export interface AlertRule {
  readonly id: string;
  readonly name: string;
  readonly ruleType: RuleType;
  /**
   * Jobs in a row for `consecutive_failures`, seconds for `job_duration_exceeded` and `latency_p95`, a share of the limit
   * for `budget_used`, a share of the calls for `error_rate`.
   */
  readonly threshold: number;
  /** Only jobs of this kind. Null: of every kind. */
  readonly jobKind: JobKind | null;
  /** The budget of `budget_used`, which may be deleted meanwhile. Null for all other types. */
  readonly budgetId: string | null;
  /** The length of the window of `windowTypes`. Null for all other types. */
  readonly windowMinutes: number | null;
  /** The least number of calls in the window. Null for all other types. */
  readonly minCalls: number | null;
  readonly severity: Severity;
  /** A disabled rule keeps counting and fires nothing. */
  readonly enabled: boolean;
  readonly createdAt: Date;
  /** The number of failed jobs since the last success, at most `ruleLimits.failures`. */
  readonly failuresInARow: number;
  /** True if the rule has fired since the last success. */
  readonly firedInRun: boolean;
  /** The newest alert of `budget_used` or of `windowTypes`. Null: there is none, or the rule may fire again at once. */
  readonly firedAt: Date | null;
}

/** `nameLength` counts Unicode code points. `share` is the largest share of a budget. */
export const ruleLimits = {
  rules: 100,
  nameLength: 200,
  failures: 10_000,
  seconds: 1_000_000_000,
  share: 10,
  windowMinutes: 1_440,
  /** A window counts at most this many of the newest calls. */
  calls: 10_000,
} as const;

export const usualSeverity: Record<RuleType, Severity> = {
  consecutive_failures: 'P1',
  job_duration_exceeded: 'P2',
  budget_used: 'P2',
  latency_p95: 'P2',
  error_rate: 'P1',
};

export interface RuleInput extends Pick<AlertRule, 'name' | 'ruleType' | 'threshold'> {
  readonly jobKind?: JobKind | null;
  readonly severity?: Severity | null;
  readonly budgetId?: string | null;
  readonly windowMinutes?: number | null;
  readonly minCalls?: number | null;
}

/** A budget with what the calls of its present period have taken. */
export interface BudgetUse {
  readonly budget: Budget;
  readonly settled: Nanos;
}

/** The facts that a rule needs besides the job. */
export interface RuleFacts {
  /** The counts of `AlertRule.needsCounts`. The job itself does not count. */
  readonly counts?: CallCounts | null;
  /** The budget of the rule, after the end of the job. Null: the budget is deleted. */
  readonly use?: BudgetUse | null;
}
export type RuleChange = Partial<Pick<AlertRule, 'name' | 'threshold' | 'severity' | 'enabled'>>;

type Draft = RuleInput & Pick<AlertRule, 'id' | 'createdAt'> & { failuresInARow?: number };

export const AlertRule = {
  /** Throws InvalidRequest. */
  create({ severity, failuresInARow = 0, ...input }: Draft): AlertRule {
    const { jobKind = null, budgetId = null, windowMinutes = null, minCalls = null } = input;
    const rule = { ...input, jobKind, budgetId, windowMinutes, minCalls, enabled: true };
    const state = { failuresInARow, firedInRun: false, firedAt: null };
    return checked({ ...rule, ...state, severity: severity ?? usualSeverity[input.ruleType] });
  },

  /** A rule with another threshold may fire again at once. Throws InvalidRequest. */
  change(rule: AlertRule, change: RuleChange): AlertRule {
    const { threshold = rule.threshold } = change;
    return checked({ ...rule, ...change, firedAt: threshold === rule.threshold ? rule.firedAt : null });
  },

  /** Tells whether the rule needs its budget as it is after the end of the job. */
  needsBudget: ({ ruleType, enabled }: AlertRule): boolean => enabled && ruleType === 'budget_used',

  /** Returns the window that ends with the job. Returns null for a rule without one. */
  window({ ruleType, threshold, jobKind, windowMinutes }: AlertRule, { finishedAt }: FinishedJob): CallWindow | null {
    if (windowMinutes === null) return null;
    return {
      after: new Date(finishedAt.getTime() - windowMinutes * MINUTE_MS),
      kind: jobKind as CallKind | null,
      slowerThan: ruleType === 'latency_p95' ? threshold : null,
    };
  },

  /**
   * Returns the window whose earlier calls must be counted to tell whether the job fires the rule. Returns null if the job
   * cannot fire it: only a bad call can, and only after the calls of the newest alert have left the window.
   */
  needsCounts(rule: AlertRule, job: FinishedJob): CallWindow | null {
    const window = AlertRule.window(rule, job);
    if (!window || !rule.enabled || !CallWindow.isBad(window, job)) return null;
    return rule.firedAt !== null && rule.firedAt > window.after ? null : window;
  },

  /**
   * Returns the rule after one more finished job, and whether the rule fires. Returns the same rule object if the job
   * changes nothing. A preview of a rule calls this method too, so it shows exactly the jobs that would fire the rule.
   */
  observe(rule: AlertRule, job: FinishedJob, { counts = null, use = null }: RuleFacts = {}): Observed {
    if (!isOfKind(rule, job)) return { rule, fires: false };
    if (rule.ruleType === 'consecutive_failures') return observeFailures(rule, job);
    if (rule.ruleType === 'job_duration_exceeded')
      return { rule, fires: rule.enabled && (Job.duration(job) ?? 0) > rule.threshold };
    if (rule.ruleType === 'budget_used') return use ? observeBudget(rule, job, use) : { rule, fires: false };
    const fires = counts !== null && AlertRule.needsCounts(rule, job) !== null && exceeds(rule, counts);
    return { rule: fires ? { ...rule, firedAt: job.finishedAt } : rule, fires };
  },
};

interface Observed {
  readonly rule: AlertRule;
  readonly fires: boolean;
}

const isOfKind = ({ jobKind }: AlertRule, { kind }: FinishedJob): boolean => jobKind === null || jobKind === kind;

/** Tells whether a window with one more bad call fires the rule. */
function exceeds({ ruleType, threshold, minCalls }: AlertRule, counts: CallCounts): boolean {
  const [calls, bad] = [counts.calls + 1, counts.bad + 1];
  if (calls < (minCalls ?? 1)) return false;
  return ruleType === 'latency_p95' ? bad > Math.floor(calls / 20) : bad / calls >= threshold;
}

const MINUTE_MS = 60_000;
const ONE = 1_000_000_000n;

/**
 * A rule fires once in each period. After a higher limit, it can fire again. A call that ends after its period changes
 * nothing in a later period.
 */
function observeBudget(rule: AlertRule, job: FinishedJob, { budget, settled }: BudgetUse): Observed {
  if (!rule.enabled || !Budget.covers(budget, job)) return { rule, fires: false };
  const { firedAt } = rule;
  const at = Budget.timeOf(job);
  const end = Budget.resetsAt(budget.period, at);
  if (firedAt !== null && end !== null && firedAt >= end) return { rule, fires: false };
  const hasFired = firedAt !== null && firedAt >= Budget.start(budget.period, at);
  const isUsed = settled * ONE >= budget.limit * (nanosOfNumber(rule.threshold) ?? ONE);
  if (isUsed === hasFired) return { rule, fires: false };
  return { rule: { ...rule, firedAt: isUsed ? at : null }, fires: isUsed };
}

function observeFailures(rule: AlertRule, { status }: FinishedJob): Observed {
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
  const findings = [...nameFindings(rule), ...fieldFindings(rule)];
  if (findings.length > 0) throw new InvalidRequest(findings);
  return rule;
}

function nameFindings({ name }: AlertRule): Finding[] {
  const fits = name !== '' && atMost(name, ruleLimits.nameLength);
  return fits ? [] : [{ path: 'name', message: `must have 1 to ${ruleLimits.nameLength} characters` }];
}

function fieldFindings({ ruleType, threshold, jobKind, budgetId, windowMinutes, minCalls }: AlertRule): Finding[] {
  const findings: Finding[] = [];
  const require = (isRight: boolean, path: string, message: string) => {
    if (!isRight) findings.push({ path, message });
  };
  const wrong = thresholdProblem(ruleType, threshold);
  if (wrong !== null) findings.push({ path: 'threshold', message: wrong });
  if (ruleType === 'budget_used') require(budgetId !== null, 'budget_id', 'must be the id of a budget');
  else require(budgetId === null, 'budget_id', 'is only for rules of the type budget_used');
  if (isWindowed(ruleType)) {
    const { windowMinutes: longest, calls } = ruleLimits;
    require(isWhole(windowMinutes, longest), 'window_minutes', `must be a whole number from 1 to ${longest}`);
    require(isWhole(minCalls, calls), 'min_calls', `must be a whole number from 1 to ${calls}`);
    const isOfCalls = jobKind === null || callKinds.some((kind) => kind === jobKind);
    require(isOfCalls, 'job_kind', `must be one of ${callKinds.join(', ')}: the others are no calls`);
  } else {
    const only = `is only for rules of the types ${windowTypes.join(' and ')}`;
    require(windowMinutes === null, 'window_minutes', only);
    require(minCalls === null, 'min_calls', only);
  }
  return findings;
}

const isWindowed = (ruleType: RuleType): boolean => windowTypes.some((type) => type === ruleType);
const isWhole = (value: number | null, most: number): boolean =>
  Number.isInteger(value) && value !== null && value >= 1 && value <= most;

function thresholdProblem(ruleType: RuleType, threshold: number): string | null {
  const { failures, seconds, share } = ruleLimits;
  if (ruleType === 'consecutive_failures')
    return isWhole(threshold, failures) ? null : `must be a whole number from 1 to ${failures}: jobs in a row`;
  if (ruleType === 'budget_used') {
    const fits = threshold > 0 && threshold <= share && nanosOfNumber(threshold) !== null;
    return fits ? null : `must be above 0, at most ${share}, with at most nine decimal places: a share of the limit`;
  }
  if (ruleType === 'error_rate')
    return threshold > 0 && threshold <= 1 ? null : 'must be above 0 and at most 1: a share of the calls';
  return threshold > 0 && threshold <= seconds ? null : `must be above 0 and at most ${seconds}: seconds`;
}
