import type { FinishedJob, Job, JobKind } from '../../../domain/jobs/job.js';
import { port } from '../../shared/port.js';

export interface HistoryPart {
  /** Null: of every kind. */
  readonly kind: JobKind | null;
  /** Only what finished at this moment or later. */
  readonly since: Date | null;
  /** At most so many, the newest. */
  readonly most: number;
}

/** The jobs that have finished, in the order in which they did. */
export interface JobHistory {
  /**
   * Writes jobs as they have finished, each once, whether they were there before or not, behind all that finished
   * earlier. Only for use where one at a time does it.
   */
  append(jobs: readonly (Job & FinishedJob)[]): Promise<void>;
  /**
   * Takes its turn in `line` and appends calls, if no alert rule takes notice of any: none counts one, none fires. Gives
   * the ids of those that are written: none where a rule does, and none that has finished before. The newest of them may be
   * lost where the database itself crashes within the next second; nothing that was written later outlasts them.
   */
  appendUnnoticed(line: string, calls: readonly (Job & FinishedJob)[]): Promise<string[]>;
  /** How many have failed since the last that succeeded, up to `most`; those that were cancelled don't count. */
  failuresInARow(kind: JobKind | null, most: number): Promise<number>;
  /** In the order in which they finished, with only some of them in memory at a time. */
  part(which: HistoryPart): AsyncIterable<FinishedJob>;
  /** Removes up to `most` sync jobs that finished before, the oldest first. */
  forgetCalls(before: Date, most: number): Promise<void>;
}
export const JobHistory = port<JobHistory>('jobs.JobHistory');
