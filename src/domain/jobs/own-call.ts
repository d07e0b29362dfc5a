import type { FinalStatus, FinishedJob } from './job.js';
import type { EndedCall } from './usage.js';

/** A finished call that the service itself has made to a model, for one of its jobs. It has no job of its own. */
export interface OwnCall extends EndedCall {
  readonly jobId: string;
  readonly teamId: string;
  readonly status: FinalStatus;
}

const SEPARATOR = '/';

export const OwnCall = {
  /** Returns the id of one call of a job. */
  id: (jobId: string, ...parts: readonly number[]): string => [jobId, ...parts].join(SEPARATOR),

  /** Returns the job that the call was made for. Returns null for the id of a job, which names a call of a caller. */
  jobOf: (id: string): string | null => (id.includes(SEPARATOR) ? (id.split(SEPARATOR)[0] ?? null) : null),

  /** Returns the call as rules of budgets see it: like the end of a call of a caller, with the id of the job. */
  forRules: ({ jobId, usage, ...call }: OwnCall): FinishedJob => ({
    ...call,
    id: jobId,
    kind: 'evaluation',
    mode: 'sync',
    startedAt: call.createdAt,
    usage,
  }),
};
