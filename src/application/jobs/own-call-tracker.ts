import { injectable } from 'inversify';
import { codeOf } from '../../domain/chat/failure.js';
import { OwnCall } from '../../domain/jobs/own-call.js';
import { costText, FREE } from '../../domain/spend/cost.js';
import { Demand, NOTHING } from '../../domain/spend/demand.js';
import { Prices } from '../../domain/spend/prices.js';
import { Clock, Logger } from '../shared/ports.js';
import { BudgetGuard } from '../spend/budget-guard.js';
import { type Bounds, type Charge, HoldRepository, type SpendScopes } from '../spend/ports.js';
import { type CallFigures, isRefusal, NO_FIGURES } from './finished-call.js';
import { JobFinisher } from './job-finisher.js';
import { JobRepository } from './ports.js';

/** The end of a call of the service itself. */
export interface OwnCallEnd extends SpendScopes {
  readonly callId: string;
  /** The time that tells the periods of the call. */
  readonly createdAt: Date;
  /** The time at which the model began. Null: it has not begun. */
  readonly startedAt: Date | null;
  /** The model that was tried last. */
  readonly modelId: string | null;
  /** The prices of this model. Null: it has none. */
  readonly prices: Prices | null;
  /** The bounds that the budgets of the call set. Null: no budget applied to it. */
  readonly bounds: Bounds | null;
  /** Absent: the model has made nothing. */
  readonly figures?: CallFigures | undefined;
  /** Absent: the model has answered. */
  readonly error?: unknown;
  /** True: the one who waits for the answer has left. */
  readonly hasLeft: boolean;
}

/** Limits the ends that wait in memory while the database is out of reach. Further ends are lost and logged. */
const UNSTORED = 10_000;

/** Stores the ends of the calls that the service itself makes to models, and settles their holds. */
@injectable()
export class OwnCallTracker {
  private readonly unstored = new Map<string, { readonly call: OwnCall; readonly charge: Charge }>();

  constructor(
    private readonly finisher: JobFinisher,
    private readonly jobs: JobRepository,
    private readonly holds: HoldRepository,
    private readonly guard: BudgetGuard,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * Stores the end of a call. A call that the model has refused or not begun counts nowhere, and neither does one that was
   * left before the model made a part of its answer. If the end cannot be stored now, `catchUp` does it later. Never throws.
   */
  async end(ended: OwnCallEnd): Promise<void> {
    const { callId, startedAt, figures = NO_FIGURES, error, hasLeft, bounds, prices } = ended;
    const { tokensCached = 0, isCharged = false, ...usage } = figures;
    const isWithout = hasLeft ? !isCharged : error !== undefined && isRefusal(error);
    if (startedAt === null || isWithout) {
      if (bounds) await this.guard.settle(callId, NOTHING);
      return;
    }
    const at = this.clock.now();
    const lasted = Math.max(0, at.getTime() - startedAt.getTime());
    const milliseconds = bounds ? Math.min(lasted, bounds.mostMs) : lasted;
    const priced = { ...usage, tokensCached, milliseconds };
    const hasFailed = error !== undefined && !hasLeft;
    const failure = hasFailed ? codeOf(error) : null;
    const status = hasFailed ? 'failed' : hasLeft ? 'cancelled' : 'succeeded';
    const { teamId, projectId, accountId: requestedBy, keyId, modelId, createdAt } = ended;
    const call: OwnCall = {
      ...{ id: callId, jobId: OwnCall.jobOf(callId) ?? callId, teamId, projectId, modelId, requestedBy, status },
      ...{ createdAt, finishedAt: at, usage: { ...usage, keyId, failure } },
      cost: prices && (isCharged ? Prices.cost(prices, priced) : FREE),
    };
    await this.store(call, { taken: Demand.taken(prices, priced, isCharged), isHeld: bounds !== null });
  }

  /**
   * Stores the end of a call of a dead instance, which counts for the most that it can have made. Returns false for the
   * call of a caller.
   */
  async close(callId: string): Promise<boolean> {
    const jobId = OwnCall.jobOf(callId);
    const job = jobId && (await this.jobs.find(jobId));
    const most = await this.holds.most(callId);
    if (!job || job.teamId === null || !most) return false;
    const { teamId, projectId, modelId, requestedBy, usage } = job;
    const { taken, at, tokensIn, tokensOut } = most;
    const made = { tokensIn, tokensOut, firstToken: null };
    await this.store(
      {
        ...{ id: callId, jobId: job.id, teamId, projectId, modelId, requestedBy, status: 'failed' },
        ...{ createdAt: at, finishedAt: this.clock.now() },
        usage: { ...made, keyId: usage?.keyId ?? null, failure: 'internal_error' },
        cost: taken.cost > 0n ? costText(taken.cost) : null,
      },
      { taken, isHeld: true },
    );
    return true;
  }

  /** Stores the ends that could not be stored before. Must be called every few seconds. */
  async catchUp(): Promise<void> {
    for (const { call, charge } of [...this.unstored.values()]) await this.store(call, charge);
  }

  private async store(call: OwnCall, charge: Charge): Promise<void> {
    const { id } = call;
    try {
      await this.finisher.finishOwn(call, charge);
      this.unstored.delete(id);
    } catch (error) {
      const fields = { job_id: call.jobId, call_id: id, error };
      if (this.unstored.has(id) || this.unstored.size < UNSTORED) {
        this.unstored.set(id, { call, charge });
        this.log.warn('the end of a call could not be stored', fields);
      } else this.log.error('the end of a call is lost', fields);
    }
  }
}
