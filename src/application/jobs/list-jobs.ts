import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Job } from '../../domain/jobs/job.js';
import { JobSight } from '../../domain/jobs/job-sight.js';
import type { JobFilter, Jobs } from './ports/jobs.js';

interface Input extends Omit<JobFilter, 'teamId'> {
  readonly by: Caller | null;
  readonly page: { readonly limit: number; readonly after: string | null };
}

/** The jobs that the caller may see, newest first. */
export class ListJobs {
  constructor(private readonly jobs: Jobs) {}

  async execute({ by, page, ...filter }: Input): Promise<Job[]> {
    const caller = authorize(by, permissions.readJobs);
    const jobs = await this.jobs.list({ ...filter, teamId: JobSight.teamSeenBy(caller) }, page);
    return jobs.map((job) => JobSight.shownTo(caller, job));
  }
}
