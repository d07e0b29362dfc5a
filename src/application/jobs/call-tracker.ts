import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { ANSWERED, type Attempts, CANCELLED } from '../../domain/jobs/attempt.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { type CallKind, type CallUsage, Job, JobSight } from '../../domain/jobs/job.js';
import { KeptPart } from '../../domain/record/kept-part.js';
import { DomainError, type ErrorKind } from '../../domain/shared/errors.js';
import { FREE } from '../../domain/spend/cost.js';
import { Demand, NOTHING } from '../../domain/spend/demand.js';
import { Prices } from '../../domain/spend/prices.js';
import { Authority } from '../accounts/authority.js';
import { CallRecorder, type Recordable } from '../record/call-recorder.js';
import { Clock, IdGenerator, Logger } from '../shared/ports.js';
import { BudgetGuard } from '../spend/budget-guard.js';
import type { Bounds, Charge } from '../spend/ports.js';
import { JobFinisher } from './job-finisher.js';
import { InstanceRegistry } from './ports.js';
import { RunningCalls } from './running-calls.js';

export interface CallInfo extends Pick<Job, 'name' | 'projectId' | 'modelId'> {
  readonly by: Caller;
  readonly kind: CallKind;
  /** Returns the prices of a model that may answer. Null: it has none. */
  readonly pricesOf: (modelId: string | null) => Prices | null;
  /** Takes the holds of the call with this id that arrived `at` this time, and returns its bounds. Null: it needs none. */
  readonly guard: ((callId: string, at: Date) => Promise<Bounds | null>) | null;
  /** The attempts of the call, which say at its end which model has answered. Absent for a prediction. */
  readonly attempts?: Attempts;
  /** The part of the call that its project may keep beside the job. Absent: nothing. */
  readonly recordable?: Recordable;
  /** Aborts when the caller disconnects or loses the permission. */
  readonly signal: AbortSignal;
}

/** The figures that a call reports at its end. */
export interface CallFigures extends CallUsage {
  /** Those of `tokensIn` that the model had in its cache. */
  readonly tokensCached?: number;
  /** True: the model has made a part of the answer, so the call costs something even if it did not succeed. */
  readonly isCharged?: boolean;
}

/** One call. A call that was not admitted leaves no job. Only the first end counts. */
export interface TrackedCall {
  /** The bounds that the budgets of the call set. Null: it has none. */
  readonly bounds: Bounds | null;
  /** Reports that the model begins to work on the call. */
  admitted(): void;
  /**
   * Runs `store`, which stores the answer, and ends the call as succeeded. Resolves when the end is stored. Throws what
   * `store` throws. The call then ends as failed, or as cancelled if `signal` is aborted.
   */
  succeeded(figures?: CallFigures, store?: () => Promise<void>): Promise<void>;
  /** Resolves when the end is stored, with the reason if the caller lost the permission. */
  cancelled(figures?: CallFigures): Promise<void>;
  /** Reports that the model has refused the call. The call leaves no job. */
  refused(): Promise<void>;
  /**
   * Ends the call as failed, as cancelled if `signal` is aborted, or as refused if the error is the caller's fault.
   * Resolves when the end is stored. `figures` are those that are known so far.
   */
  failed(error: unknown, figures?: CallFigures): Promise<void>;
}

export interface Tracking<T> {
  readonly figuresOf?: (answer: T, bounds: Bounds | null) => CallFigures | Promise<CallFigures>;
  readonly store?: (answer: T) => Promise<void>;
  /** Returns the figures of a call that has failed, if it has a price or budgets. Default: it costs nothing. */
  readonly ifFailed?: (error: unknown, hasLeft: boolean) => Promise<CallFigures | undefined>;
}

/** Errors of these kinds are the model's fault, not the caller's. */
const faults: readonly ErrorKind[] = ['bad_gateway', 'unavailable', 'timeout'];

/** Limits the ends that wait in memory while the database is out of reach. Further ends are lost and logged. */
const UNSTORED = 10_000;
/** Limits the content that these ends have together. The ends beyond it are stored without content. */
const UNSTORED_BYTES = 32 * 1024 * 1024;

/**
 * Creates a `sync` job for every call that a model works on. Stores the end of the call and evaluates all alert rules
 * before the caller gets the answer.
 */
@injectable()
export class CallTracker {
  private readonly unstored = new Map<string, Ended>();
  private unstoredBytes = 0;

  constructor(
    private readonly running: RunningCalls,
    private readonly finisher: JobFinisher,
    private readonly guard: BudgetGuard,
    private readonly recorder: CallRecorder,
    private readonly instances: InstanceRegistry,
    private readonly authority: Authority,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * Runs `call`, which reports when it is admitted, then `store`, and returns the answer. Throws what they throw. Also
   * throws if the end cannot be stored, because an alert may depend on the end.
   */
  async track<T>(
    info: CallInfo,
    call: (admitted: () => void, bounds: Bounds | null) => Promise<T>,
    options: Tracking<T> = {},
  ): Promise<T> {
    const { figuresOf, store, ifFailed } = options;
    const tracked = await this.open(info);
    let answer: T;
    try {
      answer = await call(() => tracked.admitted(), tracked.bounds);
    } catch (error) {
      const isCounted = pricesOf(info) !== null || tracked.bounds !== null;
      await tracked.failed(error, isCounted ? await ifFailed?.(error, info.signal.aborted) : undefined);
      throw error;
    }
    await tracked.succeeded(await figuresOf?.(answer, tracked.bounds), async () => store?.(answer));
    return answer;
  }

  /** Opens a call that arrives now, and takes its holds. Throws what `guard` throws. */
  async open(info: CallInfo): Promise<TrackedCall> {
    const { by, signal, kind, name, projectId, modelId, guard, attempts, recordable } = info;
    if (projectId !== null) this.authority.place(by, projectId);
    const createdAt = this.clock.now();
    const keyId = by.kind === 'api_key' ? by.credentialId : null;
    const instance = await this.instances.own();
    const id = this.ids.next('job');
    const bounds = (await guard?.(id, createdAt)) ?? null;
    let job: Job | null = null;
    let isReleased = false;
    /** Frees the holds of a call that leaves no job. */
    const release = async () => {
      if (!bounds || isReleased) return;
      isReleased = true;
      await this.guard.settle(id, NOTHING);
    };
    let ending: Promise<void> | null = null;
    // Engines and connections call these functions outside the request. The lines of this logger name the request.
    const log = this.log.child({ job_id: id });
    const end = async (outcome: Outcome, figures?: CallFigures): Promise<void> => {
      if (!job) return release();
      const known = { figures, prices: pricesOf(info), attempts, bounds, at: this.clock.now() };
      ending ??= this.end(finished(job, outcome, known), log, recordable);
      await ending;
    };
    const refused = async () => {
      if (ending) return;
      if (job) {
        this.running.withdraw(id);
        log.info('job withdrawn');
      }
      await release();
    };
    const cancelled = (figures?: CallFigures) =>
      end({ status: 'cancelled', ...(signal.reason instanceof DomainError && reasonOf(signal.reason)) }, figures);
    const broken = (error: unknown, figures?: CallFigures) =>
      signal.aborted ? cancelled(figures) : end({ status: 'failed', ...reasonOf(error) }, figures);
    return {
      bounds,
      admitted: () => {
        if (job) return;
        const about = { id, kind, name, projectId, modelId, createdAt, startedAt: this.clock.now(), instance, keyId };
        job = Job.call({ ...JobSight.ownerOf(by), ...about });
        this.running.begin(job, log);
      },
      succeeded: async (figures, store) => {
        try {
          await store?.();
        } catch (error) {
          // The model has made the whole answer, so it costs the same as one that is stored.
          await broken(error, figures && { ...figures, isCharged: true });
          throw error;
        }
        await end({ status: 'succeeded' }, figures);
      },
      cancelled,
      refused,
      failed: async (error, figures) => {
        if (!signal.aborted && isRefusal(error)) await refused();
        else await broken(error, figures);
      },
    };
  }

  /** Stores beginnings and ends of calls that could not be stored before. Logs what fails again, and never throws. */
  async catchUp(): Promise<void> {
    void this.running.flush();
    await Promise.all(
      [...this.unstored.values()].map((end) => {
        const log = this.log.child({ job_id: end.job.id });
        return this.store(end, log).catch((error) => log.warn('the end of a call could not be stored', { error }));
      }),
    );
  }

  private async end(finished: Finished, log: Logger, recordable: Recordable | undefined): Promise<void> {
    const { job } = finished;
    const { id } = job;
    const kept = recordable ? await this.recorder.prepare(job, recordable, log) : null;
    const end = { ...finished, kept };
    this.running.end(id);
    try {
      await this.store(end, log);
    } catch (failure) {
      if (this.unstored.size < UNSTORED) this.storeLater(end, log);
      else log.error('the end of a call is lost');
      throw failure;
    }
  }

  private async store({ job, charge, kept }: Ended, log: Logger): Promise<void> {
    try {
      await this.finisher.finishCall(job, log, { charge, kept });
    } catch (error) {
      // The end was stored but the confirmation was lost, or another instance considered this instance dead.
      if (!(error instanceof JobFinished)) throw error;
      log.warn('a call had its end already');
    }
    this.unstoredBytes -= this.unstored.get(job.id)?.kept?.bytes ?? 0;
    this.unstored.delete(job.id);
  }

  private storeLater({ job, charge, kept }: Ended, log: Logger): void {
    const fits = this.unstoredBytes + (kept?.bytes ?? 0) <= UNSTORED_BYTES;
    if (!fits) log.warn('the content of a call is lost, because the database is out of reach');
    const end = { job, charge, kept: kept && !fits ? KeptPart.withoutContent(kept) : kept };
    this.unstored.set(job.id, end);
    this.unstoredBytes += end.kept?.bytes ?? 0;
  }
}

type Outcome = Omit<Parameters<typeof Job.finish>[1], 'usage' | 'cost' | 'attempts'>;

interface Calculation {
  readonly figures: CallFigures | undefined;
  readonly prices: Prices | null;
  readonly attempts: Attempts | undefined;
  readonly bounds: Bounds | null;
  readonly at: Date;
}

/** The finished job of a call, and what it has taken. */
interface Finished {
  readonly job: Job;
  readonly charge: Charge;
}

interface Ended extends Finished {
  /** The part of the call that its project keeps. Null: nothing. */
  readonly kept: KeptPart | null;
}

export const NO_FIGURES: CallFigures = { tokensIn: null, tokensOut: null, firstToken: null };

/** Returns the prices of the model that was tried last, or else of the one that stands for the runtime. */
export const pricesOf = ({ pricesOf: of, attempts, modelId }: CallInfo): Prices | null =>
  of(attempts?.modelId ?? modelId);

/**
 * Ends the job of a call. A call that made no part of an answer costs nothing, unless it succeeded. The time that a call
 * needs to end after its deadline is not charged.
 */
function finished(job: Job, outcome: Outcome, known: Calculation): Finished {
  const { figures = NO_FIGURES, prices, attempts, bounds, at } = known;
  const { tokensCached = 0, isCharged = false, ...made } = figures;
  const lasted = Math.max(0, at.getTime() - (job.startedAt ?? at).getTime());
  const milliseconds = bounds ? Math.min(lasted, bounds.mostMs) : lasted;
  const usage = { ...made, ...(milliseconds < lasted && { seconds: milliseconds / 1_000 }) };
  const isFree = outcome.status !== 'succeeded' && !isCharged;
  const priced = { ...usage, tokensCached, milliseconds };
  const cost = prices && (isFree ? FREE : Prices.cost(prices, priced));
  const charge = { taken: Demand.taken(prices, priced, !isFree), isHeld: bounds !== null };
  const tried = { attempts: attempts?.all(attemptOutcome(outcome)) };
  return { job: Job.finish(job, { ...outcome, ...tried, usage, cost }, at), charge };
}

/** Returns the outcome of an attempt that ends together with its call. */
function attemptOutcome({ status, failure = 'internal_error' }: Outcome): string {
  if (status === 'succeeded') return ANSWERED;
  return status === 'cancelled' ? CANCELLED : failure;
}

/** Tells whether an error is the fault of the caller. */
export const isRefusal = (error: unknown) => error instanceof DomainError && !faults.includes(error.kind);

const reasonOf = (error: unknown) =>
  error instanceof DomainError
    ? { failure: error.code, error: `${error.code}: ${error.message}` }
    : { failure: 'internal_error', error: 'internal_error: the log of the service has it.' };
