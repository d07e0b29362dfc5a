import type { Job, JobKind, JobStatus } from '../../../domain/jobs/job.js';
import { port } from '../../shared/port.js';

export interface JobFilter {
  /** Null: of every team, and the master key's. */
  readonly teamId: string | null;
  readonly status: JobStatus | null;
  readonly kind: JobKind | null;
  readonly projectId: string | null;
}

export interface Jobs {
  /** Adds jobs that have not finished. Where there is one with the same id, that one stays as it is. */
  add(jobs: readonly Job[]): Promise<void>;
  find(id: string): Promise<Job | null>;
  /** Newest first, beginning after the id `after`. */
  list(filter: JobFilter, page: { readonly limit: number; readonly after: string | null }): Promise<Job[]>;
  /** Those that are there, in no order. Until the end of the transaction at hand nobody else can change them. */
  hold(ids: readonly string[]): Promise<Job[]>;
  /** Writes a job that has not finished; false, and nothing written, where the stored one is gone or has finished. */
  update(job: Job): Promise<boolean>;
  /** Removes those that have not finished. */
  withdraw(ids: readonly string[]): Promise<void>;
  /** The numbers of the processes that have jobs which have not finished. */
  processes(): Promise<number[]>;
  /** The ids of some of the jobs of a process that have not finished, the oldest first. */
  ofProcess(process: number, limit: number): Promise<string[]>;
}
export const Jobs = port<Jobs>('jobs.Jobs');
