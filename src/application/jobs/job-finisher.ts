import { injectable } from 'inversify';
import { Alert } from '../../domain/alerts/alert.js';
import { AlertRule, type RuleFacts } from '../../domain/alerts/alert-rule.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { type FinishedJob, Job } from '../../domain/jobs/job.js';
import { OwnCall } from '../../domain/jobs/own-call.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Budget } from '../../domain/spend/budget.js';
import { AlertAnnouncer } from '../alerts/alert-announcer.js';
import { AlertRepository, AlertRuleRepository } from '../alerts/ports.js';
import { IdGenerator, type LockMode, Logger, UnitOfWork } from '../shared/ports.js';
import { BudgetRepository, type Charge } from '../spend/ports.js';
import { SpendMeter } from '../spend/spend-meter.js';
import { type CallEnd, JobHistory, JobRepository, OwnCallRepository } from './ports.js';

/** The lock for finishing jobs, for changing alert rules, and for finding the last finished job. */
export const FINISHING = 'finishing jobs';

/** Undoes an attempt under a shared lock. */
const NEEDS_ORDER = new Error('a rule of a budget changes or fires');

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
    private readonly ownCalls: OwnCallRepository,
    private readonly rules: AlertRuleRepository,
    private readonly alerts: AlertRepository,
    private readonly announcer: AlertAnnouncer,
    private readonly budgets: BudgetRepository,
    private readonly meter: SpendMeter,
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
    return this.store(finished, this.log, { charge });
  }

  /**
   * Stores and logs the end of a call, settles its holds, and stores what its project keeps. The beginning of the call may
   * be stored or not. Throws JobFinished.
   */
  async finishCall(finished: Job, log: Logger, end: CallEnd = {}): Promise<Job> {
    const isPlain = !this.expectsRules && Job.isFinished(finished);
    const stored = isPlain && (await this.history.appendWithoutRules(finished, end));
    return stored ? this.ended(finished, log) : this.store(async () => finished, log, end);
  }

  /**
   * Stores the end of a call of the service itself, adds it to its job, and settles its holds. Only the rules of budgets
   * see it. Does nothing if it is stored already.
   */
  async finishOwn(call: OwnCall, charge: Charge): Promise<void> {
    const attempt = (mode: LockMode) =>
      this.locked(mode, async () => {
        if (!(await this.ownCalls.append(call, charge))) return { isNew: false };
        const rules = (await this.rules.all()).filter(AlertRule.needsBudget);
        const seen = await this.observedAfter(rules, OwnCall.forRules(call));
        if (mode === 'shared' && seen.length > 0) throw NEEDS_ORDER;
        await this.react(seen);
        return { isNew: true };
      });
    const stored = (await attempt('shared')) ?? (await attempt('exclusive'));
    if (stored?.isNew) this.meter.ended(call);
  }

  /**
   * Stores a finished job. Jobs that change no rule and fire no alert finish at the same time, under a shared lock.
   * The rules cannot change meanwhile, so the order of these jobs does not matter. Other jobs finish one after another.
   */
  private async store(finished: () => Promise<Job>, log: Logger, end: CallEnd): Promise<Job> {
    const attempt = (mode: LockMode) => this.attempt(finished, mode, end);
    const job = (await attempt('shared')) ?? (await attempt('exclusive'));
    if (!job) throw new Error('an exclusive attempt always stores the job');
    return this.ended(job, log);
  }

  private ended(job: Job, log: Logger): Job {
    // The calls of an evaluation are counted one by one.
    if (job.mode === 'sync') this.meter.ended(job);
    log.info('job ended', { job_id: job.id, kind: job.kind, status: job.status });
    return job;
  }

  /** Stores the job. Under a shared lock, returns null and stores nothing if a rule changes or fires. */
  private async attempt(finished: () => Promise<Job>, mode: LockMode, end: CallEnd): Promise<Job | null> {
    const work = async () => {
      const job = await finished();
      if (!Job.isFinished(job)) throw new Error(`${job.id} has not finished`);
      const rules = await this.rules.all();
      this.expectsRules = rules.length > 0;
      const [ofBudgets, others] = [
        rules.filter(AlertRule.needsBudget),
        rules.filter((rule) => !AlertRule.needsBudget(rule)),
      ];
      if (mode === 'shared' && others.some((rule) => AlertRule.needsCounts(rule, job) !== null)) return null;
      const seen = await this.observed(others, job);
      if (mode === 'shared' && seen.length > 0) return null;
      // A crash of the database may lose the end of a call, but never an alert.
      const isDurable = job.mode === 'async' || seen.length > 0 || (mode === 'exclusive' && ofBudgets.length > 0);
      if (!(await this.history.append(job, isDurable, end))) throw new JobFinished(job.status);
      const seenAfter = await this.observedAfter(ofBudgets, job);
      if (mode === 'shared' && seenAfter.length > 0) throw NEEDS_ORDER;
      await this.react([...seen, ...seenAfter]);
      return job;
    };
    return this.locked(mode, work);
  }

  /** Runs `work` under the lock. Returns null if it needs the exclusive one. */
  private locked<T>(mode: LockMode, work: () => Promise<T | null>): Promise<T | null> {
    return this.unitOfWork.locked(FINISHING, work, mode).catch((error) => {
      if (error !== NEEDS_ORDER) throw error;
      return null;
    });
  }

  /** Returns the rules that the job changes or fires. Only the exclusive lock makes the counts of windows exact. */
  private async observed(rules: readonly AlertRule[], job: Job & FinishedJob): Promise<Reaction[]> {
    const windows = rules.map((rule) => AlertRule.needsCounts(rule, job));
    const counts = await this.history.counts(windows.filter((window) => window !== null));
    return rules.flatMap((rule, nth) => this.reactionOf(rule, job, { counts: windows[nth] ? counts.shift() : null }));
  }

  /** Returns the rules of budgets that the job changes or fires. The end of the job has settled its holds before. */
  private async observedAfter(rules: readonly AlertRule[], job: FinishedJob): Promise<Reaction[]> {
    const ids = rules.map(({ budgetId }) => budgetId).filter((id) => id !== null);
    if (ids.length === 0 || job.teamId === null) return [];
    const budgets = new Map((await this.budgets.some(ids, Budget.timeOf(job))).map((budget) => [budget.id, budget]));
    return rules.flatMap((rule) => {
      const budget = budgets.get(rule.budgetId ?? '');
      return this.reactionOf(rule, job, { use: budget ? { budget, settled: budget.spent.settled } : null });
    });
  }

  private reactionOf(before: AlertRule, job: FinishedJob, facts: RuleFacts): Reaction[] {
    const { rule, fires } = AlertRule.observe(before, job, facts);
    if (rule === before && !fires) return [];
    const alert = fires ? Alert.of(rule, job, this.ids.next('alr'), facts) : null;
    return [{ changed: rule === before ? null : rule, alert }];
  }

  private async react(reactions: readonly Reaction[]): Promise<void> {
    const changed = reactions.map((reaction) => reaction.changed).filter((rule) => rule !== null);
    const alerts = reactions.map(({ alert }) => alert).filter((alert) => alert !== null);
    if (changed.length > 0) await this.rules.save(changed);
    if (alerts.length === 0) return;
    await this.alerts.add(alerts);
    await this.announcer.fired(alerts);
  }
}

interface Reaction {
  readonly changed: AlertRule | null;
  readonly alert: Alert | null;
}
