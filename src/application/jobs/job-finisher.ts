import { injectable } from 'inversify';
import { Alert } from '../../domain/alerts/alert.js';
import { AlertRule } from '../../domain/alerts/alert-rule.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { Job } from '../../domain/jobs/job.js';
import { NotFound } from '../../domain/shared/errors.js';
import { AlertAnnouncer } from '../alerts/alert-announcer.js';
import { AlertRepository, AlertRuleRepository } from '../alerts/ports.js';
import { IdGenerator, type LockMode, Logger, UnitOfWork } from '../shared/ports.js';
import type { Charge } from '../spend/ports.js';
import { JobHistory, JobRepository } from './ports.js';

/** The lock for finishing jobs, for changing alert rules, and for finding the last finished job. */
export const FINISHING = 'finishing jobs';

/**
 * Finishes jobs. The transaction that stores the end of a job also evaluates every alert rule, so no alert is lost and
 * none fires twice. Must not be used inside a unit of work.
 */
@injectable()
export class JobFinisher {
  /** True if there were alert rules when this instance last looked. Rules may have changed since then. */
  private expectsRules = false;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: JobRepository,
    private readonly history: JobHistory,
    private readonly rules: AlertRuleRepository,
    private readonly alerts: AlertRepository,
    private readonly announcer: AlertAnnouncer,
    private readonly ids: IdGenerator,
    private readonly log: Logger,
  ) {}

  /** Finishes a stored job. `end` must return the finished job and only read. Throws NotFound and what `end` throws. */
  finish(id: string, end: (stored: Job) => Job | Promise<Job>, charge: Charge | null = null): Promise<Job> {
    const finished = async () => {
      const stored = await this.jobs.hold(id);
      if (!stored) throw new NotFound('job');
      return end(stored);
    };
    return this.store(finished, this.log, charge);
  }

  /**
   * Stores and logs the end of a call, and settles its holds. The beginning of the call may be stored or not. Throws
   * JobFinished.
   */
  async finishCall(finished: Job, log: Logger, charge: Charge | null = null): Promise<Job> {
    const isPlain = !this.expectsRules && Job.isFinished(finished);
    const stored = isPlain && (await this.history.appendWithoutRules(finished, charge));
    return stored ? ended(finished, log) : this.store(async () => finished, log, charge);
  }

  /**
   * Stores a finished job. Jobs that change no rule and fire no alert finish at the same time, under a shared lock.
   * The rules cannot change meanwhile, so the order of these jobs does not matter. Other jobs finish one after another.
   */
  private async store(finished: () => Promise<Job>, log = this.log, charge: Charge | null = null): Promise<Job> {
    const attempt = (mode: LockMode) => this.attempt(finished, mode, charge);
    const job = (await attempt('shared')) ?? (await attempt('exclusive'));
    if (!job) throw new Error('an exclusive attempt always stores the job');
    return ended(job, log);
  }

  /** Stores the job. Under a shared lock, returns null and stores nothing if a rule changes or fires. */
  private attempt(finished: () => Promise<Job>, mode: LockMode, charge: Charge | null): Promise<Job | null> {
    const work = async () => {
      const job = await finished();
      if (!Job.isFinished(job)) throw new Error(`${job.id} has not finished`);
      const rules = await this.rules.all();
      this.expectsRules = rules.length > 0;
      const seen = rules.map((before) => ({ before, ...AlertRule.observe(before, job) }));
      const changed = seen.filter(({ before, rule }) => rule !== before).map(({ rule }) => rule);
      const alerts = seen.filter(({ fires }) => fires).map(({ rule }) => Alert.of(rule, job, this.ids.next('alr')));
      const reacted = changed.length + alerts.length > 0;
      if (mode === 'shared' && reacted) return null;
      // A crash of the database may lose the end of a call, but never an alert.
      const isDurable = job.mode === 'async' || reacted;
      if (!(await this.history.append(job, isDurable, charge))) throw new JobFinished(job.status);
      if (changed.length > 0) await this.rules.save(changed);
      if (alerts.length > 0) {
        await this.alerts.add(alerts);
        await this.announcer.fired(alerts);
      }
      return job;
    };
    return this.unitOfWork.locked(FINISHING, work, mode);
  }
}

function ended(job: Job, log: Logger): Job {
  log.info('job ended', { job_id: job.id, kind: job.kind, status: job.status });
  return job;
}
