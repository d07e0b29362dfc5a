import type { CallKind, FinishedJob } from '../jobs/job.js';

/** The calls that ended after `after`, up to the end of a job. Cancelled calls do not count. */
export interface CallWindow {
  readonly after: Date;
  /** Only calls of this kind. Null: of every kind. */
  readonly kind: CallKind | null;
  /** In seconds from the arrival of a call to its end. Slower calls are bad. Null: failed calls are bad. */
  readonly slowerThan: number | null;
}

export interface CallCounts {
  readonly calls: number;
  readonly bad: number;
}

export const CallWindow = {
  /** Tells whether the window counts the job, if it ended within it. */
  counts: ({ kind }: CallWindow, job: FinishedJob): boolean =>
    job.mode === 'sync' && job.status !== 'cancelled' && (kind === null || kind === job.kind),

  isBad(window: CallWindow, job: FinishedJob): boolean {
    if (!CallWindow.counts(window, job)) return false;
    if (window.slowerThan === null) return job.status === 'failed';
    return (job.finishedAt.getTime() - job.createdAt.getTime()) / 1_000 > window.slowerThan;
  },
};
