import type { Caller } from '../accounts/caller.js';
import { type Job, MASTER } from './job.js';

/** Decides who may see and change a job. */
export const JobSight = {
  ownerOf: (caller: Caller): Pick<Job, 'teamId' | 'requestedBy'> =>
    caller.kind === 'master'
      ? { teamId: null, requestedBy: MASTER }
      : { teamId: caller.teamId, requestedBy: caller.accountId },

  /** Returns the team whose jobs the caller sees, or null for all jobs. */
  teamSeenBy: (caller: Caller): string | null => (caller.kind === 'master' || caller.operator ? null : caller.teamId),

  canSee: (caller: Caller, job: Job): boolean =>
    caller.kind === 'master' || caller.operator || job.teamId === caller.teamId,

  canChange: (caller: Caller, job: Job): boolean => caller.kind === 'master' || job.teamId === caller.teamId,

  /** Hides what a job of another team was about. Jobs of the master key belong to no team and are shown whole. */
  shownTo(caller: Caller, job: Job): Job {
    const isOwn = job.teamId === (caller.kind === 'master' ? null : caller.teamId);
    return isOwn || job.teamId === null ? job : { ...job, name: null, result: null, error: null };
  },
};
