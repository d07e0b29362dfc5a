import type { Caller } from '../accounts/caller.js';
import { type Job, MASTER } from './job.js';

/** Whose jobs are whose, and what of them a caller may see. */
export const JobSight = {
  ownerOf: (caller: Caller): Pick<Job, 'teamId' | 'requestedBy'> =>
    caller.kind === 'master'
      ? { teamId: null, requestedBy: MASTER }
      : { teamId: caller.teamId, requestedBy: caller.accountId },

  /** The team whose jobs the caller sees; null: all there are. */
  teamSeenBy: (caller: Caller): string | null => (caller.kind === 'master' || caller.operator ? null : caller.teamId),

  canSee: (caller: Caller, job: Job): boolean =>
    caller.kind === 'master' || caller.operator || job.teamId === caller.teamId,

  /** Its team, and the master key. */
  canChange: (caller: Caller, job: Job): boolean => caller.kind === 'master' || job.teamId === caller.teamId,

  /** Of another team's job an operator learns what happened, and not what it was about. The master key's are no team's. */
  shownTo(caller: Caller, job: Job): Job {
    const isOwn = job.teamId === (caller.kind === 'master' ? null : caller.teamId);
    return isOwn || job.teamId === null ? job : { ...job, name: null, result: null, error: null };
  },
};
