import type { AlertRule, RuleType, Severity } from '../../src/domain/alerts/alert-rule.js';
import type { FinishedJob, JobKind } from '../../src/domain/jobs/job.js';

interface ModelRule {
  readonly id: string;
  readonly ruleType: RuleType;
  threshold: number;
  readonly jobKind: JobKind | null;
  severity: Severity;
  enabled: boolean;
}

interface ModelAlert {
  readonly ruleId: string;
  readonly jobId: string;
  readonly severity: Severity;
  note: string | null;
}

/**
 * Models rules, jobs and alerts in another way than the service: without state. Each question looks at the whole
 * history.
 */
export class JobsModel {
  readonly rules: ModelRule[] = [];
  readonly history: FinishedJob[] = [];
  readonly alerts: ModelAlert[] = [];

  finish(job: FinishedJob): void {
    this.history.push(job);
    for (const rule of this.rules) {
      if (!rule.enabled || !fires(rule, this.history, this.alerts)) continue;
      this.alerts.push({ ruleId: rule.id, jobId: job.id, severity: rule.severity, note: null });
    }
  }

  /** Returns the jobs for which a rule would have fired if it had existed from the beginning. */
  preview(rule: Pick<AlertRule, 'ruleType' | 'threshold' | 'jobKind'>): string[] {
    const model = new JobsModel();
    model.rules.push({ ...rule, id: '', severity: 'P1', enabled: true });
    for (const job of this.history) model.finish(job);
    return model.alerts.map(({ jobId }) => jobId);
  }
}

function fires(rule: ModelRule, history: readonly FinishedJob[], alerts: readonly ModelAlert[]): boolean {
  const own = history.filter(({ kind }) => rule.jobKind === null || kind === rule.jobKind);
  const job = history.at(-1);
  if (!job || own.at(-1) !== job) return false;
  if (rule.ruleType === 'job_duration_exceeded') {
    return job.startedAt !== null && job.finishedAt.getTime() - job.startedAt.getTime() > rule.threshold * 1000;
  }
  if (job.status !== 'failed') return false;
  const newest = own.filter(({ status }) => status !== 'cancelled').slice(-rule.threshold);
  if (newest.length < rule.threshold || newest.some(({ status }) => status !== 'failed')) return false;
  const sinceSuccess = own.slice(own.map(({ status }) => status).lastIndexOf('succeeded') + 1);
  return !alerts.some(({ ruleId, jobId }) => ruleId === rule.id && sinceSuccess.some(({ id }) => id === jobId));
}
