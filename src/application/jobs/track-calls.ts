import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { type CallKind, type FinalStatus, Job } from '../../domain/jobs/job.js';
import { JobSight } from '../../domain/jobs/job-sight.js';
import { DomainError, type ErrorKind } from '../../domain/shared/errors.js';
import { Clock, IdGenerator, Logger } from '../shared/ports.js';
import { BegunCalls } from './begun-calls.js';
import { FinishJobs } from './finish-jobs.js';
import { InstanceRegistry } from './ports.js';

/** What a call is about. */
export interface TrackedCall extends Pick<Job, 'name' | 'projectId' | 'modelId'> {
  readonly by: Caller;
  readonly kind: CallKind;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

/** One call on its way. Without `admitted` it leaves no trace; of several ends only the first counts. */
export interface Tracking {
  /** Runs `work`; every line that is logged during it is about the call. */
  within<T>(work: () => T): T;
  /** The model begins to work on it. */
  admitted(): void;
  /** Resolves once that is stored. */
  succeeded(): Promise<void>;
  /** Resolves once that is stored. */
  cancelled(): Promise<void>;
  /** The model has turned it down: there was no call. */
  refused(): void;
  /** By what it ended: it failed, or was cancelled where its caller went away, or refused. Resolves once that is stored. */
  failed(error: unknown): Promise<void>;
}

/** Refusals that are the model's fault and not the caller's. */
const faults: readonly ErrorKind[] = ['bad_gateway', 'unavailable', 'timeout'];

/** Ends that wait for the database to be back; beyond, they are lost, and logged. */
const UNSTORED = 10_000;

/**
 * Makes a `sync` job of every call that a model works on. The beginning costs the caller nothing; the end is stored,
 * and every rule has looked at it, before the answer is given.
 */
@injectable()
export class TrackCalls {
  private readonly unstored = new Map<string, Job>();

  constructor(
    private readonly begun: BegunCalls,
    private readonly finishing: FinishJobs,
    private readonly processes: InstanceRegistry,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * The answer of `call`, which says when it is admitted. Throws what `call` throws, or what keeps its end from being
   * stored: an answer is not given then, since an alert may hang on it.
   */
  async track<T>(about: TrackedCall, call: (admitted: () => void) => Promise<T>): Promise<T> {
    const tracking = await this.open(about);
    let answer: T;
    try {
      answer = await tracking.within(() => call(() => tracking.admitted()));
    } catch (error) {
      await tracking.failed(error);
      throw error;
    }
    await tracking.succeeded();
    return answer;
  }

  async open({ by, signal, kind, name, projectId, modelId }: TrackedCall): Promise<Tracking> {
    const process = await this.processes.own();
    const id = this.ids.next('job');
    let job: Job | null = null;
    let ending: Promise<void> | null = null;
    // The model's processes and the caller's connection tell of a call from outside of its request.
    const end = this.log.bound((status: FinalStatus, error?: string): Promise<void> => {
      if (!job) return Promise.resolve();
      ending ??= this.end(job, status, error);
      return ending;
    });
    const refused = this.log.bound(() => {
      if (!job || ending) return;
      this.begun.withdraw(id);
      this.log.info('job withdrawn', { job_id: id });
    });
    return {
      within: (work) => this.log.within({ job_id: id }, work),
      admitted: this.log.bound(() => {
        if (job) return;
        const createdAt = this.clock.now();
        const { teamId, requestedBy } = JobSight.ownerOf(by);
        job = Job.call({ id, teamId, kind, name, projectId, modelId, requestedBy, createdAt, process });
        this.begun.begin(job);
      }),
      succeeded: () => end('succeeded'),
      cancelled: () => end('cancelled'),
      refused,
      failed: async (error) => {
        if (signal.aborted) await end('cancelled');
        else if (isRefusal(error)) refused();
        else await end('failed', reasonOf(error));
      },
    };
  }

  /** Stores what could not be stored when it happened. */
  async catchUp(): Promise<void> {
    this.begun.write();
    await Promise.all([...this.unstored.values()].map((job) => this.store(job)));
  }

  private async end(begun: Job, status: FinalStatus, error?: string): Promise<void> {
    const job = Job.finish(begun, { status, error }, this.clock.now());
    this.begun.ends(begun.id);
    try {
      await this.store(job);
    } catch (failure) {
      this.keep(job);
      throw failure;
    }
  }

  private async store(job: Job): Promise<void> {
    try {
      await this.finishing.call(job);
    } catch (error) {
      // The end was stored and its confirmation lost, or another instance took this one for dead.
      if (!(error instanceof JobFinished)) throw error;
      this.log.warn('a call had its end already', { job_id: job.id });
    }
    this.unstored.delete(job.id);
  }

  private keep(job: Job): void {
    if (this.unstored.size < UNSTORED) this.unstored.set(job.id, job);
    else this.log.error('the end of a call is lost', { job_id: job.id });
  }
}

const isRefusal = (error: unknown) => error instanceof DomainError && !faults.includes(error.kind);

const reasonOf = (error: unknown) =>
  error instanceof DomainError ? `${error.code}: ${error.message}` : 'internal_error: the log of the service has it.';
