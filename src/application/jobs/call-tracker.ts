import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import type { Attempts } from '../../domain/jobs/attempt.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { type CallKind, Job, JobSight } from '../../domain/jobs/job.js';
import { KeptPart } from '../../domain/record/kept-part.js';
import { DomainError } from '../../domain/shared/errors.js';
import { NOTHING } from '../../domain/spend/demand.js';
import type { Prices } from '../../domain/spend/prices.js';
import { Authority } from '../accounts/authority.js';
import { CallRecorder, type Recordable } from '../record/call-recorder.js';
import { Clock, IdGenerator, Logger } from '../shared/ports.js';
import { BudgetGuard } from '../spend/budget-guard.js';
import { BudgetTimeOver, CallDeadline } from '../spend/call-deadline.js';
import type { Bounds } from '../spend/ports.js';
import { type CallFigures, type Finished, finishedCall, isRefusal, type Outcome, reasonOf } from './finished-call.js';
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

/** One call. A call that was not admitted leaves no job. Only the first end counts. */
export interface TrackedCall {
  /** The bounds that the budgets of the call set. Null: it has none. */
  readonly bounds: Bounds | null;
  /** Begins when the model begins. The caller of `open` must end it when the model ends. */
  readonly deadline: CallDeadline;
  /** Reports that the model begins to work on the call. Calls `expired` as `CallDeadline.begin` does. */
  admitted(expired?: () => void): void;
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
  /**
   * Returns the figures of a call that has failed, if it has a price or budgets. Default: it costs nothing. `isEarly` is
   * true if the caller has left, or if the time that the budgets allow is over.
   */
  readonly ifFailed?: (error: unknown, isEarly: boolean, bounds: Bounds | null) => Promise<CallFigures | undefined>;
}

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
   * Runs `call`, which reports when it is admitted and ends when its `signal` aborts. Then runs `store`, and returns the
   * answer. Throws what they throw. Also throws if the end cannot be stored, because an alert may depend on the end.
   */
  async track<T>(
    info: CallInfo,
    call: (admitted: () => void, given: { bounds: Bounds | null; signal: AbortSignal }) => Promise<T>,
    options: Tracking<T> = {},
  ): Promise<T> {
    const { figuresOf, store, ifFailed } = options;
    const tracked = await this.open(info);
    const { bounds, deadline } = tracked;
    let answer: T;
    try {
      const given = { bounds, signal: deadline.signal };
      answer = await call(() => tracked.admitted(), given).finally(() => deadline.end());
    } catch (error) {
      const isCounted = pricesOf(info) !== null || bounds !== null;
      const isEarly = info.signal.aborted || error instanceof BudgetTimeOver;
      await tracked.failed(error, isCounted ? await ifFailed?.(error, isEarly, bounds) : undefined);
      throw error;
    }
    await tracked.succeeded(await figuresOf?.(answer, bounds), async () => store?.(answer));
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
    const deadline = new CallDeadline(signal, bounds);
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
      ending ??= this.end(finishedCall(job, outcome, known), log, recordable);
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
      deadline,
      admitted: (expired) => {
        deadline.begin(expired);
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

interface Ended extends Finished {
  /** The part of the call that its project keeps. Null: nothing. */
  readonly kept: KeptPart | null;
}

/** Returns the prices of the model that was tried last, or else of the one that stands for the runtime. */
export const pricesOf = ({ pricesOf: of, attempts, modelId }: CallInfo): Prices | null =>
  of(attempts?.modelId ?? modelId);
