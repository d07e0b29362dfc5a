import { type FinishedJob, Job } from '../jobs/job.js';
import type { AlertRule, RuleType, Severity } from './alert-rule.js';

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
  of: (rule: AlertRule, job: FinishedJob, id: string): Alert => ({
    id,
    ruleId: rule.id,
    ruleName: rule.name,
    ruleType: rule.ruleType,
    severity: rule.severity,
    ...texts[rule.ruleType](rule, job),
    jobId: job.id,
    createdAt: job.finishedAt,
    ackedAt: null,
    ackedBy: null,
    note: null,
  }),

  status: ({ ackedAt }: Pick<Alert, 'ackedAt'>): AlertStatus => (ackedAt ? 'acked' : 'firing'),
};

const texts: Record<RuleType, (rule: AlertRule, job: FinishedJob) => Pick<Alert, 'title' | 'message'>> = {
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
};

const ended = { succeeded: 'succeeded', failed: 'failed', cancelled: 'was cancelled' } as const;
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
