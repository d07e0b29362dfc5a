import type { Evaluation, Result, Scored } from '../../domain/jobs/evaluation.js';
import type { FinishedJob, Job, JobKind, JobStatus } from '../../domain/jobs/job.js';
import type { UsageEntry, UsageQuery } from '../../domain/jobs/usage.js';
import type { Page, SizedItem } from '../shared/ports.js';

/** Selects at most `limit` results after the position `after`, by position. */
export interface ResultsPage {
  readonly limit: number;
  readonly after: number | null;
}

/** Evaluations with their results. Both are deleted with the project. */
export abstract class EvaluationRepository {
  /** Throws NotFound when the project is gone. */
  abstract add(evaluation: Evaluation): Promise<void>;
  abstract find(jobId: string): Promise<Evaluation | null>;
  /** Begins a run and returns its number. Only the latest run may keep results. Returns null if the evaluation is gone. */
  abstract begin(jobId: string): Promise<number | null>;
  /** Returns the number of the latest run, or null if the evaluation is gone. No run begins until the end of the unit of work. */
  abstract latestRun(jobId: string): Promise<number | null>;
  /** Stores a result. Returns false, and stores nothing, if a later run has begun or the evaluation is gone. */
  abstract keep(jobId: string, run: number, result: Result): Promise<boolean>;
  /** Returns all results without their texts, by position. */
  abstract scored(jobId: string): Promise<Scored[]>;
  abstract results(jobId: string, page: ResultsPage): Promise<Result[]>;
  /** Returns the sizes of the texts of what `results` returns; their ids are the positions. */
  abstract resultSizes(jobId: string, page: ResultsPage): Promise<SizedItem[]>;
  /** Finds the newest evaluation of a dataset whose job succeeded. */
  abstract latest(projectId: string, datasetId: string): Promise<Evaluation | null>;
}

export interface HistoryPart {
  /** Is null for every kind. */
  readonly kind: JobKind | null;
  /** Leaves out jobs that finished earlier. */
  readonly since: Date | null;
  /** Limits the jobs; the newest are kept. */
  readonly most: number;
}

/** The finished jobs, in the order in which they finished. */
export abstract class JobHistory {
  /**
   * Stores the end of a job, whether its beginning is stored or not, behind all jobs that finished before the transaction
   * began. Returns false, and writes nothing, if the stored job has finished. Unless `durable`, a crash of the database
   * within the next second may undo the transaction.
   */
  abstract append(job: Job & FinishedJob, durable: boolean): Promise<boolean>;
  /**
   * Stores a finished job as `append` does, not durably, if there is no alert rule. Returns false, and writes nothing, if
   * there is one, or if the stored job has finished. Holds the lock `FINISHING` shared. Not for use inside a unit of work.
   */
  abstract appendWithoutRules(job: Job & FinishedJob): Promise<boolean>;
  /** Counts the failures since the last success, up to `most`. Ignores cancelled jobs. */
  abstract failuresInARow(kind: JobKind | null, most: number): Promise<number>;
  /** Yields jobs in the order in which they finished, with a bounded number in memory. */
  abstract part(which: HistoryPart): AsyncIterable<FinishedJob>;
  /** Removes up to `most` sync jobs that finished before `before` and are rolled up, the oldest first. */
  abstract forgetCalls(before: Date, most: number): Promise<void>;
}

export interface JobFilter {
  /** Is null for every team and the master key. */
  readonly teamId: string | null;
  readonly status: JobStatus | null;
  readonly kind: JobKind | null;
  readonly projectId: string | null;
}

export abstract class JobRepository {
  /** Adds unfinished jobs. Leaves a stored job with the same id as it is. */
  abstract add(jobs: readonly Job[]): Promise<void>;
  abstract find(id: string): Promise<Job | null>;
  /** Lists the newest first, beginning after the id `after`. */
  abstract list(filter: JobFilter, page: Page): Promise<Job[]>;
  /** Returns the sizes of the results and errors of what `list` returns. */
  abstract sizes(filter: JobFilter, page: Page): Promise<SizedItem[]>;
  /** Finds a job and locks it until the end of the transaction. */
  abstract hold(id: string): Promise<Job | null>;
  /** Updates an unfinished job. Returns false, and writes nothing, if the stored one is gone or has finished. */
  abstract update(job: Job): Promise<boolean>;
  /** Removes the jobs that have not finished. */
  abstract withdraw(ids: readonly string[]): Promise<void>;
  /** Lists the instances that have unfinished jobs. */
  abstract instances(): Promise<number[]>;
  /** Lists the ids of unfinished jobs of an instance, the oldest first. */
  abstract ofInstance(instance: number, limit: number): Promise<string[]>;
}

/** The usage of calls. It outlives their jobs, projects and accounts. */
export abstract class UsageRepository {
  /**
   * Returns the number of the last finished job, or null if all are rolled up. Jobs finish out of the order of their
   * numbers, except that no lower number is still to come while the lock `FINISHING` is held alone.
   */
  abstract unrolled(): Promise<string | null>;
  /**
   * Rolls up the calls that finished up to the number `last`, at most `most` of them, the earliest first. Leaves out
   * minutes before `minutesSince`. Returns true if more are left. Only for one caller at a time, in a transaction.
   */
  abstract rollUp(last: string, most: number, minutesSince: Date): Promise<boolean>;
  /**
   * Sums up the calls that ended within a period and whose end is stored, whether rolled up or not, by start and group.
   * Returns the newest `MOST_ENTRIES`. If more calls than that wait to be rolled up, it counts the last of them only.
   */
  abstract sums(query: UsageQuery): Promise<UsageEntry[]>;
  /** Returns about how many rows `sums` reads. */
  abstract size(query: UsageQuery): Promise<number>;
}

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
