import type { Evaluation, Result, Scored } from '../../domain/jobs/evaluation.js';
import type { FinishedJob, Job, JobKind, JobStatus } from '../../domain/jobs/job.js';

/** Evaluations and what became of their records, which go with the project. */
export abstract class EvaluationRepository {
  /** Throws NotFound when the project is gone. */
  abstract add(evaluation: Evaluation): Promise<void>;
  abstract find(jobId: string): Promise<Evaluation | null>;
  /** The number of a run that begins: only this one can keep results from now on. Null where the evaluation is gone. */
  abstract begin(jobId: string): Promise<number | null>;
  /** Keeps what became of a record; false, and nothing kept, where a later run has begun or the evaluation is gone. */
  abstract keep(jobId: string, run: number, result: Result): Promise<boolean>;
  /** All that is kept, by position, without the texts. */
  abstract scored(jobId: string): Promise<Scored[]>;
  /** By position, at most `limit`, those after the position `after`. */
  abstract results(jobId: string, page: { readonly limit: number; readonly after: number | null }): Promise<Result[]>;
  /** The newest one of a dataset whose job has succeeded. */
  abstract latest(projectId: string, datasetId: string): Promise<Evaluation | null>;
}

export interface HistoryPart {
  /** Null: of every kind. */
  readonly kind: JobKind | null;
  /** Only what finished at this moment or later. */
  readonly since: Date | null;
  /** At most so many, the newest. */
  readonly most: number;
}

/** The jobs that have finished, in the order in which they did. */
export abstract class JobHistory {
  /**
   * Stores a finished job behind all that finished before the transaction began, whether the job was stored before or
   * not. Returns false, and writes nothing, if the stored job has finished. Unless `durable`, a crash of the database
   * within the next second may undo the transaction.
   */
  abstract append(job: Job & FinishedJob, durable: boolean): Promise<boolean>;
  /** Counts the failures since the last success, up to `most`. Ignores cancelled jobs. */
  abstract failuresInARow(kind: JobKind | null, most: number): Promise<number>;
  /** Yields jobs in the order in which they finished, with a bounded number in memory. */
  abstract part(which: HistoryPart): AsyncIterable<FinishedJob>;
  /** Removes up to `most` sync jobs that finished before `before`, the oldest first. */
  abstract forgetCalls(before: Date, most: number): Promise<void>;
}

export interface JobFilter {
  /** Null: of every team, and the master key's. */
  readonly teamId: string | null;
  readonly status: JobStatus | null;
  readonly kind: JobKind | null;
  readonly projectId: string | null;
}

export abstract class JobRepository {
  /** Adds jobs that have not finished. Where there is one with the same id, that one stays as it is. */
  abstract add(jobs: readonly Job[]): Promise<void>;
  abstract find(id: string): Promise<Job | null>;
  /** Newest first, beginning after the id `after`. */
  abstract list(filter: JobFilter, page: { readonly limit: number; readonly after: string | null }): Promise<Job[]>;
  /** Finds a job and locks it until the end of the transaction. */
  abstract hold(id: string): Promise<Job | null>;
  /** Writes a job that has not finished; false, and nothing written, where the stored one is gone or has finished. */
  abstract update(job: Job): Promise<boolean>;
  /** Removes those that have not finished. */
  abstract withdraw(ids: readonly string[]): Promise<void>;
  /** Lists the instances that have unfinished jobs. */
  abstract instances(): Promise<number[]>;
  /** Lists the ids of unfinished jobs of an instance, the oldest first. */
  abstract ofInstance(instance: number, limit: number): Promise<string[]>;
}

/** What a process tells the others of itself. */

/** Tells which instances of the service live. */
export abstract class InstanceRegistry {
  /**
   * Returns the number of this instance, the same at each call and never used by another. The instance counts as living
   * from the first call until its process ends, however it ends.
   */
  abstract own(): Promise<number>;
  /** Registers this instance again when its connection to the database broke. */
  abstract renew(): Promise<void>;
  /** Returns those of the numbers whose instances do not live. */
  abstract missing(numbers: readonly number[]): Promise<number[]>;
  /** Ends the registration of this instance. */
  abstract leave(): Promise<void>;
}
