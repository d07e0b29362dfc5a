import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { type CallKind, type CallUsage, Job, JobSight } from '../../domain/jobs/job.js';
import { DomainError, type ErrorKind } from '../../domain/shared/errors.js';
import { Clock, IdGenerator, Logger } from '../shared/ports.js';
import { JobFinisher } from './job-finisher.js';
import { InstanceRegistry, JobRepository } from './ports.js';

/**
 * Stores calls that have been running for a while, in the background. A stored call shows up as a running job, and
 * other instances can close it if this one dies. Short calls are stored with their end only.
 */
@injectable()
export class RunningCalls {
  /** Most calls of a fast model are over before. */
  delayMs = 50;

  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly unstored = new Map<string, Job>();
  private readonly withdrawn = new Set<string>();
  private storing = false;

  constructor(
    private readonly jobs: JobRepository,
    private readonly log: Logger,
  ) {}

  begin(job: Job): void {
    if (this.delayMs === 0) this.store(job);
    else this.timers.set(job.id, setTimeout(() => this.store(job), this.delayMs).unref());
  }

  /** Forgets a call whose end is stored by somebody else. */
  end(id: string): void {
    this.forget(id);
  }

  /** Removes a call that turned out to be none. */
  withdraw(id: string): void {
    if (this.forget(id)) return;
    this.withdrawn.add(id);
    void this.flush();
  }

  /** Stores what could not be stored before. Never throws. */
  async flush(): Promise<void> {
    if (this.storing) return;
    this.storing = true;
    try {
      while (this.unstored.size + this.withdrawn.size > 0) await this.storeAll();
    } catch (error) {
      this.log.warn('the beginning of calls could not be stored', { error });
    } finally {
      this.storing = false;
    }
  }

  private store(job: Job): void {
    this.timers.delete(job.id);
    this.unstored.set(job.id, job);
    this.log.info('job began', { job_id: job.id, kind: job.kind });
    void this.flush();
  }

  /** Returns true if nothing about the call was sent to storage. */
  private forget(id: string): boolean {
    clearTimeout(this.timers.get(id));
    return this.timers.delete(id) || this.unstored.delete(id);
  }

  private async storeAll(): Promise<void> {
    const [begun, withdrawn] = [[...this.unstored.values()], [...this.withdrawn]];
    this.unstored.clear();
    if (begun.length > 0) await this.jobs.add(begun);
    if (withdrawn.length > 0) await this.jobs.withdraw(withdrawn);
    for (const id of withdrawn) this.withdrawn.delete(id);
  }
}

export interface CallInfo extends Pick<Job, 'name' | 'projectId' | 'modelId'> {
  readonly by: Caller;
  readonly kind: CallKind;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

/** One call. It leaves no trace unless admitted. Only the first of several ends counts. */
export interface TrackedCall {
  /** Runs `work`. Every line logged meanwhile carries the id of the job. */
  within<T>(work: () => T): T;
  /** The model begins to work on the call. */
  admitted(): void;
  /** Resolves when the end is stored. */
  succeeded(usage?: CallUsage): Promise<void>;
  /** Resolves when the end is stored. `usage` has what is known so far. */
  cancelled(usage?: CallUsage): Promise<void>;
  /** Leaves no trace: the model turned the call down. */
  refused(): void;
  /**
   * Ends the call as failed, as cancelled if the caller went away, or as refused if the error is the caller's fault.
   * Resolves when the end is stored. `usage` has what is known so far.
   */
  failed(error: unknown, usage?: CallUsage): Promise<void>;
}

/** Refusals that are the model's fault, not the caller's. */
const faults: readonly ErrorKind[] = ['bad_gateway', 'unavailable', 'timeout'];

/** Limits the ends kept in memory while the database is out of reach. Further ends are lost, and logged. */
const UNSTORED = 10_000;

/**
 * Makes a `sync` job of every call that a model works on. The end is stored, and every alert rule has seen it, before
 * the caller gets the answer.
 */
@injectable()
export class CallTracker {
  private readonly unstored = new Map<string, Job>();

  constructor(
    private readonly running: RunningCalls,
    private readonly finisher: JobFinisher,
    private readonly instances: InstanceRegistry,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * Returns the answer of `call`, which tells when it is admitted. Throws what `call` throws. Throws also if the end
   * cannot be stored, since an alert may depend on it.
   */
  async track<T>(
    info: CallInfo,
    call: (admitted: () => void) => Promise<T>,
    usageOf?: (answer: T) => CallUsage,
  ): Promise<T> {
    const tracked = await this.open(info);
    let answer: T;
    try {
      answer = await tracked.within(() => call(() => tracked.admitted()));
    } catch (error) {
      await tracked.failed(error);
      throw error;
    }
    await tracked.succeeded(usageOf?.(answer));
    return answer;
  }

  /** Opens a call that arrives now. */
  async open({ by, signal, kind, name, projectId, modelId }: CallInfo): Promise<TrackedCall> {
    const createdAt = this.clock.now();
    const keyId = by.kind === 'api_key' ? by.credentialId : null;
    const instance = await this.instances.own();
    const id = this.ids.next('job');
    let job: Job | null = null;
    let ending: Promise<void> | null = null;
    // Engines and connections report from outside the request, so its log fields are bound here.
    const end = this.log.bound((how: Parameters<typeof Job.finish>[1]): Promise<void> => {
      if (!job) return Promise.resolve();
      ending ??= this.end(Job.finish(job, how, this.clock.now()));
      return ending;
    });
    const refused = this.log.bound(() => {
      if (!job || ending) return;
      this.running.withdraw(id);
      this.log.info('job withdrawn', { job_id: id });
    });
    return {
      within: (work) => this.log.within({ job_id: id }, work),
      admitted: this.log.bound(() => {
        if (job) return;
        const about = { id, kind, name, projectId, modelId, createdAt, startedAt: this.clock.now(), instance, keyId };
        job = Job.call({ ...JobSight.ownerOf(by), ...about });
        this.running.begin(job);
      }),
      succeeded: (usage) => end({ status: 'succeeded', usage }),
      cancelled: (usage) => end({ status: 'cancelled', usage }),
      refused,
      failed: async (error, usage) => {
        if (signal.aborted) await end({ status: 'cancelled', usage });
        else if (isRefusal(error)) refused();
        else await end({ status: 'failed', usage, ...reasonOf(error) });
      },
    };
  }

  /** Stores what could not be stored when it happened. */
  async catchUp(): Promise<void> {
    void this.running.flush();
    await Promise.all([...this.unstored.values()].map((job) => this.store(job)));
  }

  private async end(job: Job): Promise<void> {
    this.running.end(job.id);
    try {
      await this.store(job);
    } catch (failure) {
      if (this.unstored.size < UNSTORED) this.unstored.set(job.id, job);
      else this.log.error('the end of a call is lost', { job_id: job.id });
      throw failure;
    }
  }

  private async store(job: Job): Promise<void> {
    try {
      await this.finisher.finishCall(job);
    } catch (error) {
      // The end was stored and its confirmation lost, or another instance took this one for dead.
      if (!(error instanceof JobFinished)) throw error;
      this.log.warn('a call had its end already', { job_id: job.id });
    }
    this.unstored.delete(job.id);
  }
}

const isRefusal = (error: unknown) => error instanceof DomainError && !faults.includes(error.kind);

const reasonOf = (error: unknown) =>
  error instanceof DomainError
    ? { failure: error.code, error: `${error.code}: ${error.message}` }
    : { failure: 'internal_error', error: 'internal_error: the log of the service has it.' };
