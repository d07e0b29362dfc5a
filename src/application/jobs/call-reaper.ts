import { injectable } from 'inversify';
import { JobFinished } from '../../domain/jobs/errors.js';
import { type CallUsage, Job } from '../../domain/jobs/job.js';
import { NotFound } from '../../domain/shared/errors.js';
import { costText } from '../../domain/spend/cost.js';
import { NOTHING } from '../../domain/spend/demand.js';
import { InstanceReports } from '../operations/ports.js';
import { KeptCallRepository } from '../record/ports.js';
import { Clock, Logger, WorkQueue } from '../shared/ports.js';
import { BudgetGuard } from '../spend/budget-guard.js';
import { HoldRepository, type Most } from '../spend/ports.js';
import { CallTracker } from './call-tracker.js';
import { JobFinisher } from './job-finisher.js';
import { OwnCallTracker } from './own-call-tracker.js';
import { InstanceRegistry, JobHistory, JobRepository } from './ports.js';
import { UsageRollUp } from './usage.service.js';

/** Limits the calls closed in one run. */
const BATCH = 200;

/** The jobs of calls are stored for this time after their end. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const FORGOTTEN_AT_ONCE = 1_000;
/**
 * Limits a run. With a run every two seconds, half a million old calls are gone within minutes. So are as many expired
 * kept calls.
 */
const FORGOTTEN_BATCHES = 10;

/**
 * Closes the calls of dead instances, unlocks their tasks and removes their reports. Also registers this instance again,
 * stores delayed ends of calls, rolls up usage and removes old calls and expired kept calls.
 */
@injectable()
export class CallReaper {
  private readonly dead: DeadInstances;

  constructor(
    private readonly tracker: CallTracker,
    private readonly jobs: JobRepository,
    private readonly history: JobHistory,
    private readonly finisher: JobFinisher,
    private readonly usage: UsageRollUp,
    private readonly instances: InstanceRegistry,
    private readonly queue: WorkQueue,
    private readonly holds: HoldRepository,
    private readonly guard: BudgetGuard,
    private readonly ownCalls: OwnCallTracker,
    private readonly keptCalls: KeptCallRepository,
    private readonly reports: InstanceReports,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.dead = new DeadInstances(instances, clock);
  }

  async execute(): Promise<void> {
    await this.instances.renew();
    await this.tracker.catchUp();
    await this.guard.catchUp();
    await this.ownCalls.catchUp();
    const running = [...(await this.jobs.instances()), ...(await this.queue.instances())];
    const known = new Set([...running, ...(await this.holds.instances()), ...(await this.reports.numbers())]);
    for (const instance of await this.dead.among([...known])) await this.reap(instance);
    await this.usage.execute();
    await this.forget();
  }

  private async forget(): Promise<void> {
    const now = this.clock.now();
    const before = new Date(now.getTime() - KEPT_MS);
    await inBatches((most) => this.history.forgetCalls(before, most));
    await inBatches((most) => this.keptCalls.forget(now, most));
  }

  private async reap(instance: number): Promise<void> {
    const ids = await this.jobs.ofInstance(instance, BATCH);
    for (const id of ids) await this.close(id);
    // The other holds are of calls that were not stored yet, though their models may have begun.
    if (ids.length < BATCH)
      for (const id of await this.holds.callsOf(instance, BATCH))
        if (!(await this.ownCalls.close(id))) await this.holds.settle(id, null);
    await this.queue.release(instance);
    await this.reports.remove(instance);
    this.log.warn('an instance died', { instance, calls: ids.length });
  }

  private async close(id: string): Promise<void> {
    const at = this.clock.now();
    const end = { status: 'failed', error: 'The instance died during the call.' } as const;
    try {
      const most = await this.holds.most(id);
      const taken = most?.taken ?? null;
      const cost = taken && taken.cost > 0n ? costText(taken.cost) : null;
      const charge = { taken: taken ?? NOTHING, isHeld: taken !== null };
      const usage = most ? usageOf(most) : undefined;
      await this.finisher.finish(id, (job) => Job.finish(job, { ...end, cost, usage }, at), charge);
    } catch (error) {
      // Another instance closed the call first.
      if (!(error instanceof JobFinished || error instanceof NotFound)) throw error;
    }
  }
}

async function inBatches(forget: (most: number) => Promise<number>): Promise<void> {
  for (let batch = 0; batch < FORGOTTEN_BATCHES; batch++)
    if ((await forget(FORGOTTEN_AT_ONCE)) < FORGOTTEN_AT_ONCE) return;
}

/** Returns the figures of a call that nobody knows more about than its bounds. */
const usageOf = ({ taken, tokensIn, tokensOut }: Most): CallUsage => ({
  ...{ tokensIn, tokensOut, firstToken: null },
  seconds: Number(costText(taken.seconds)),
});

/** After its connection to the database broke, an instance has this time to register again. */
const GRACE_MS = 4_000;

/** An older observation does not count, because the instance may have been present since then. */
const STALE_MS = 30_000;

interface Missing {
  readonly since: number;
  readonly seen: number;
}

/** Finds the instances that have ended. An instance that is missing only for a moment does not count. */
class DeadInstances {
  private readonly missing = new Map<number, Missing>();

  constructor(
    private readonly instances: InstanceRegistry,
    private readonly clock: Clock,
  ) {}

  /** Returns the instances that were missing in all calls of the last `GRACE_MS`. Must be called every few seconds. */
  async among(numbers: readonly number[]): Promise<number[]> {
    const missing = new Set(await this.instances.missing(numbers));
    const now = this.clock.now().getTime();
    for (const number of numbers) if (!missing.has(number)) this.missing.delete(number);
    for (const [number, { seen }] of this.missing) if (now - seen > STALE_MS) this.missing.delete(number);
    return [...missing].filter((number) => {
      const since = this.missing.get(number)?.since ?? now;
      this.missing.set(number, { since, seen: now });
      return now - since >= GRACE_MS;
    });
  }
}
