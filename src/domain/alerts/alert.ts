import { type FinishedJob, Job } from '../jobs/job.js';
import type { BudgetPeriod } from '../spend/budget.js';
import type { AlertRule, RuleFacts, RuleType, Severity } from './alert-rule.js';

/** Records that a job fired a rule. An alert stays after its job or its rule is deleted. */
export interface Alert {
  readonly id: string;
  readonly ruleId: string;
  /** The rule's name when the alert fired. */
  readonly ruleName: string;
  readonly ruleType: RuleType;
  readonly severity: Severity;
  readonly title: string;
  readonly message: string;
  /** The job that fired the rule. */
  readonly jobId: string;
  readonly createdAt: Date;
  readonly ackedAt: Date | null;
  /** The id of an account, or `MASTER`. */
  readonly ackedBy: string | null;
  readonly note: string | null;
}

export const alertStatuses = ['firing', 'acked'] as const;
export type AlertStatus = (typeof alertStatuses)[number];

/** The maximum length of a note in Unicode code points. */
export const NOTE_LENGTH = 1_000;

export const Alert = {
  /** Creates an alert. Its texts omit the job's name, because operators must not see the names of other teams' jobs. */
  of: (rule: AlertRule, job: FinishedJob, id: string, facts: RuleFacts = {}): Alert => ({
    id,
    ruleId: rule.id,
    ruleName: rule.name,
    ruleType: rule.ruleType,
    severity: rule.severity,
    ...texts[rule.ruleType](rule, job, facts),
    jobId: job.id,
    createdAt: job.finishedAt,
    ackedAt: null,
    ackedBy: null,
    note: null,
  }),

  status: ({ ackedAt }: Pick<Alert, 'ackedAt'>): AlertStatus => (ackedAt ? 'acked' : 'firing'),
};

type Texts = (rule: AlertRule, job: FinishedJob, facts: RuleFacts) => Pick<Alert, 'title' | 'message'>;

const texts: Record<RuleType, Texts> = {
  consecutive_failures({ name, threshold, jobKind }, job) {
    const jobs = `${jobKind ? `${jobKind} ` : ''}jobs`;
    const seconds = Job.duration(job);
    const failed = `failed ${seconds === null ? 'before it had begun' : `after ${seconds} s`}`;
    const sentence =
      threshold === 1
        ? `The job ${job.id}, of the kind ${job.kind}, ${failed}.`
        : `The newest ${threshold} finished ${jobs} all failed. The last of them, ${job.id}, is of the kind ${job.kind} and ${failed}.`;
    return {
      title: threshold === 1 ? `${capital(job.kind)} job failed` : `${threshold} ${jobs} failed in a row`,
      message: `${sentence} The rule "${name}" fires again only after one of its jobs has succeeded.`,
    };
  },
  job_duration_exceeded({ name, threshold }, job) {
    return {
      title: `${capital(job.kind)} job ran longer than ${threshold} s`,
      message:
        `The job ${job.id}, of the kind ${job.kind}, ran for ${Job.duration(job)} s and ${ended[job.status]}. ` +
        `The rule "${name}" allows ${threshold} s.`,
    };
  },
  budget_used({ name, threshold, budgetId }, job, { use }) {
    const of = use
      ? ` (${use.budget.unit} of the ${use.budget.scope} ${use.budget.scopeId}, ${periods[use.budget.period]})`
      : '';
    const used =
      use && use.budget.limit > 0n ? percentOf(Number((use.settled * 10_000n) / use.budget.limit) / 100) : 'all';
    return {
      title: `Budget used to ${percentOf(threshold * 100)}`,
      message:
        `With the job ${job.id}, ${used} of the budget ${budgetId}${of} is used. The rule "${name}" fires again only in ` +
        'the next period of the budget, or after its limit was raised.',
    };
  },
  latency_p95({ name, threshold, jobKind, windowMinutes }, job, { counts }) {
    const { calls, bad } = withJob(counts);
    return {
      title: `More than 5 % of the ${jobKind ? `${jobKind} ` : ''}calls took longer than ${threshold} s`,
      message: `${bad} of ${inWindow(calls, windowMinutes)} took longer than ${threshold} s. ${lastOf(name, job, windowMinutes)}`,
    };
  },
  error_rate({ name, threshold, jobKind, windowMinutes }, job, { counts }) {
    const { calls, bad } = withJob(counts);
    return {
      title: `${percentOf(threshold * 100)} or more of the ${jobKind ? `${jobKind} ` : ''}calls failed`,
      message: `${bad} of ${inWindow(calls, windowMinutes)} failed. ${lastOf(name, job, windowMinutes)}`,
    };
  },
};

const periods: Record<BudgetPeriod, string> = {
  minute: 'for each minute',
  hour: 'for each hour',
  day: 'for each day',
  week: 'for each week',
  month: 'for each month',
  total: 'for all time',
};

const percentOf = (percent: number): string => `${Number(percent.toFixed(2))} %`;
const minutes = (count: number | null): string => (count === 1 ? 'a minute' : `${count} minutes`);
const withJob = (counts: RuleFacts['counts']) => ({ calls: (counts?.calls ?? 0) + 1, bad: (counts?.bad ?? 0) + 1 });
const inWindow = (calls: number, window: number | null): string =>
  `the ${calls} calls that ended within ${minutes(window)}`;
const lastOf = (name: string, { id, kind }: FinishedJob, window: number | null): string =>
  `The last of them, ${id}, is of the kind ${kind}. The rule "${name}" fires again after ${minutes(window)} at the earliest.`;

const ended = { succeeded: 'succeeded', failed: 'failed', cancelled: 'was cancelled' } as const;
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
