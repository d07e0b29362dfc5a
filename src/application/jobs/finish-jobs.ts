import { injectable } from 'inversify';
import { Alert } from '../../domain/alerts/alert.js';
import { AlertRule } from '../../domain/alerts/alert-rule.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { Job } from '../../domain/jobs/job.js';
import { AlertNotifier, AlertRepository, AlertRuleRepository } from '../alerts/ports.js';
import { IdGenerator, type LockMode, Locks, Logger } from '../shared/ports.js';
import { JobHistory, JobRepository } from './ports.js';

/** The lock for finishing jobs and for changing alert rules. */
export const FINISHING = 'finishing jobs';

/**
 * Finishes jobs. The transaction that stores the end of a job also evaluates every alert rule, so no alert is lost or
 * raised twice. Not for use inside a unit of work.
 */
@injectable()
export class FinishJobs {
  constructor(
    private readonly line: Locks,
    private readonly jobs: JobRepository,
    private readonly history: JobHistory,
    private readonly rules: AlertRuleRepository,
    private readonly alerts: AlertRepository,
    private readonly notifier: AlertNotifier,
    private readonly ids: IdGenerator,
    private readonly log: Logger,
  ) {}

  /** Finishes a stored job. `end` is a pure function that returns the finished job; its errors are thrown here. */
  stored(id: string, end: (stored: Job | null) => Job): Promise<Job> {
    return this.finish(async () => end(await this.jobs.hold(id)));
  }

  /** Finishes a call, whether its beginning was stored or not. Throws JobFinished. */
  call(job: Job): Promise<Job> {
    return this.finish(async () => job);
  }

  /**
   * Jobs that no rule reacts to finish side by side. The shared lock keeps the rules as they are meanwhile, and such jobs
   * change none, so their order does not matter. All others finish one after another.
   */
  private async finish(ended: () => Promise<Job>): Promise<Job> {
    const job = (await this.attempt(ended, 'shared')) ?? (await this.attempt(ended, 'exclusive'));
    if (!job) throw new Error('an exclusive turn always finishes the job');
    this.log.info('job ended', { job_id: job.id, kind: job.kind, status: job.status });
    return job;
  }

  /** Returns null, and writes nothing, if a rule reacts to the job and the turn is shared. */
  private attempt(ended: () => Promise<Job>, mode: LockMode): Promise<Job | null> {
    const work = async () => {
      const job = await ended();
      if (!Job.isFinished(job)) throw new Error(`${job.id} has not finished`);
      const seen = (await this.rules.all()).map((before) => ({ before, ...AlertRule.observe(before, job) }));
      const changed = seen.filter(({ before, rule }) => rule !== before).map(({ rule }) => rule);
      const alerts = seen.filter(({ fires }) => fires).map(({ rule }) => Alert.of(rule, job, this.ids.next('alr')));
      const reacted = changed.length + alerts.length > 0;
      if (mode === 'shared' && reacted) return null;
      // A crash of the database may lose the end of a call, but never an alert.
      if (!(await this.history.append(job, job.mode === 'async' || reacted))) throw new JobFinished(job.status);
      if (changed.length > 0) await this.rules.save(changed);
      if (alerts.length > 0) {
        await this.alerts.add(alerts);
        await this.notifier.announce(alerts);
      }
      return job;
    };
    return this.line.run(FINISHING, work, mode);
  }
}
