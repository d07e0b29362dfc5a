import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Job } from '../../domain/jobs/job.js';
import { JobSight } from '../../domain/jobs/job-sight.js';
import { NotFound } from '../../domain/shared/errors.js';
import { JobRepository } from './ports.js';

/** A job as its reader may see it. */
@injectable()
export class ReadJob {
  constructor(private readonly jobs: JobRepository) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; id: string }): Promise<Job> {
    const caller = authorize(input.by, permissions.readJobs);
    const job = await this.jobs.find(input.id);
    if (!job || !JobSight.canSee(caller, job)) throw new NotFound('job');
    return JobSight.shownTo(caller, job);
  }
}
