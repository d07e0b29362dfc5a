import type { CallCounts, CallWindow } from '../../domain/alerts/call-window.js';
import type { Evaluation, Result, Scored } from '../../domain/jobs/evaluation.js';
import type { FinishedJob, Job, JobKind, JobStatus } from '../../domain/jobs/job.js';
import type { OwnCall } from '../../domain/jobs/own-call.js';
import type { UsageEntry, UsageQuery } from '../../domain/jobs/usage.js';
import type { KeptPart } from '../../domain/record/kept-part.js';
import type { Page, SizedItem } from '../shared/ports.js';
import type { Charge } from '../spend/ports.js';

/** Selects at most `limit` results after the position `after`, by position. */
export interface ResultsPage {
  readonly limit: number;
  readonly after: number | null;
}

/** Stores evaluations with their results. They are deleted with their project. */
export abstract class EvaluationRepository {
  /** Throws NotFound when the project is gone. */
  abstract add(evaluation: Evaluation): Promise<void>;
  abstract find(jobId: string): Promise<Evaluation | null>;
  /** Begins a run and returns its number, or null if the evaluation is gone. Only the latest run can store results. */
  abstract begin(jobId: string): Promise<number | null>;
  /** Returns the latest run, or null if the evaluation is gone. No later run begins until the unit of work ends. */
  abstract latestRun(jobId: string): Promise<number | null>;
  /** Stores a result. Returns false, and stores nothing, if a later run has begun or the evaluation is gone. */
  abstract keep(jobId: string, run: number, result: Result): Promise<boolean>;
  /**
   * Notes that a run waits for a budget, and returns since when the evaluation has waited with `done` results. Returns null
   * if a later run has begun or the evaluation is gone.
   */
  abstract wait(jobId: string, run: number, wait: { done: number; at: Date }): Promise<Date | null>;
  /** Returns all results without their texts, by position. */
  abstract scored(jobId: string): Promise<Scored[]>;
  /** Returns the positions that both evaluations have scored, with different outputs, in order. */
  abstract differing(jobId: string, otherId: string): Promise<number[]>;
  abstract results(jobId: string, page: ResultsPage): Promise<Result[]>;
  /** Returns the sizes of the texts of the results that `results` returns. The ids are the positions. */
  abstract resultSizes(jobId: string, page: ResultsPage): Promise<SizedItem[]>;
  /** Finds the newest successful evaluation of a dataset. */
  abstract latest(projectId: string, datasetId: string): Promise<Evaluation | null>;
}

export interface HistoryPart {
  /** Only jobs of this kind. Null: of every kind. */
  readonly kind: JobKind | null;
  /** Omits jobs that finished earlier. */
  readonly since: Date | null;
  /** Omits all but the newest jobs of the kind, this many of them. */
  readonly most: number;
}

/** The end of a call, beside its job. */
export interface CallEnd {
  /** Settles the holds of the call, and charges the budgets that were created while it ran. */
  readonly charge?: Charge | null;
  /** The part of the call that its project keeps. It is left out if the project or the account is gone. */
  readonly kept?: KeptPart | null;
}

/** The finished jobs, in the order in which they finished. */
export abstract class JobHistory {
  /**
   * Stores the end of a job. The job follows all jobs that finished before the transaction began. The beginning of the
   * job may be stored or not. Returns false and writes nothing if the stored job has finished. If `durable` is false, a
   * crash of the database within the next second can undo the transaction. The same statement stores the rest of the
   * end of a call.
   */
  abstract append(job: Job & FinishedJob, durable: boolean, end?: CallEnd): Promise<boolean>;
  /**
   * Stores a finished job as `append` does without `durable`, if there is no alert rule. Returns false and writes
   * nothing if there is an alert rule, or if the stored job has finished. Holds the lock `FINISHING` in the mode
   * `shared`. Must not be used inside a unit of work.
   */
  abstract appendWithoutRules(job: Job & FinishedJob, end?: CallEnd): Promise<boolean>;
  /** Counts the failures since the last success, up to `most`. Ignores cancelled jobs. */
  abstract failuresInARow(kind: JobKind | null, most: number): Promise<number>;
  /** Counts the calls of each window, in order. A window has no more calls than the newest `ruleLimits.calls`. */
  abstract counts(windows: readonly CallWindow[]): Promise<CallCounts[]>;
  /** Yields jobs in the order in which they finished, with a bounded number in memory. */
  abstract part(which: HistoryPart): AsyncIterable<FinishedJob>;
  /**
   * Removes the oldest `sync` jobs and own calls that finished before `before` and are rolled up, at most `most` of each.
   * Returns the larger number. Concurrent calls do not wait for each other.
   */
  abstract forgetCalls(before: Date, most: number): Promise<number>;
}

/** The finished calls that the service itself has made to models, for its jobs. */
export abstract class OwnCallRepository {
  /**
   * Stores the end of a call, adds its figures to the usage and the cost of its job, and settles its holds as
   * `JobHistory.append` does, all in one statement. Returns false and writes nothing if the call is stored already. The
   * caller must hold the lock `FINISHING`.
   */
  abstract append(call: OwnCall, charge: Charge): Promise<boolean>;
}

export interface JobFilter {
  /** Only jobs of this team. Null: of every team, and of the master key. */
  readonly teamId: string | null;
  readonly status: JobStatus | null;
  readonly kind: JobKind | null;
  readonly projectId: string | null;
  /** Only jobs of these projects, unless `projectId` names one. Null: of all. */
  readonly projects?: readonly string[] | null;
  /**
   * Only jobs that have `part` in their name, in upper or lower case, among the newest `MOST_SEARCHED` jobs with a name of
   * the team. A null team: of the master key.
   */
  readonly named?: { readonly teamId: string | null; readonly part: string } | null;
}

export abstract class JobRepository {
  /** Adds unfinished jobs. Does not change a stored job with the same id. */
  abstract add(jobs: readonly Job[]): Promise<void>;
  abstract find(id: string): Promise<Job | null>;
  /** Lists the newest first, beginning after the id `after`. */
  abstract list(filter: JobFilter, page: Page): Promise<Job[]>;
  /** Returns the sizes of the results and errors of the jobs that `list` returns. */
  abstract sizes(filter: JobFilter, page: Page): Promise<SizedItem[]>;
  /** Finds a job and locks it until the end of the transaction. */
  abstract hold(id: string): Promise<Job | null>;
  /** Updates an unfinished job. Returns false and writes nothing if the stored job is gone or has finished. */
  abstract update(job: Job): Promise<boolean>;
  /** Removes those of the jobs that have not finished. */
  abstract withdraw(ids: readonly string[]): Promise<void>;
  /** Lists the instances that have unfinished jobs. */
  abstract instances(): Promise<number[]>;
  /** Lists the ids of unfinished jobs of an instance, the oldest first. */
  abstract ofInstance(instance: number, limit: number): Promise<string[]>;
}

/** Stores the usage of calls. The usage stays after the jobs, projects and accounts are deleted. */
export abstract class UsageRepository {
  /**
   * Returns the number of the last finished job, or null if all finished jobs are rolled up. A job with a lower number
   * can still be stored later, except while the caller holds the lock `FINISHING` in the mode `exclusive`.
   */
  abstract unrolled(): Promise<string | null>;
  /**
   * Rolls up the earliest finished calls up to the number `last`, at most `most` of them. Stores no usage by minute or by
   * hour of times for which it is not kept any more at `now`. Returns true if more calls are left. Must run in a
   * transaction, and only once at a time.
   */
  abstract rollUp(last: string, most: number, now: Date): Promise<boolean>;
  /**
   * Sums up the stored calls that ended within the period, by bucket and group. Returns the newest `MOST_ENTRIES`
   * entries. Counts calls that are not rolled up yet, but only the last `MOST_ENTRIES` of them.
   */
  abstract sums(query: UsageQuery): Promise<UsageEntry[]>;
  /** Returns about how many rows `sums` reads. */
  abstract size(query: UsageQuery): Promise<number>;
}

/** Tells which instances of the service run. */
export abstract class InstanceRegistry {
  /**
   * Returns the number of this instance. Every call returns the same number, and no other instance ever has it. The
   * instance counts as running from the first call until its process ends or crashes.
   */
  abstract own(): Promise<number>;
  /** Registers this instance again if its connection to the database broke. */
  abstract renew(): Promise<void>;
  /** Returns those of the numbers that belong to no running instance. */
  abstract missing(numbers: readonly number[]): Promise<number[]>;
  /** Ends the registration of this instance. */
  abstract leave(): Promise<void>;
}
