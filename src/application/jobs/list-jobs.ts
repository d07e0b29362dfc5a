import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Job } from '../../domain/jobs/job.js';
import { JobSight } from '../../domain/jobs/job-sight.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import { type JobFilter, JobRepository } from './ports.js';

interface Input extends Omit<JobFilter, 'teamId'> {
  readonly by: Caller | null;
  readonly page: { readonly limit: number; readonly after: string | null };
}

/** The jobs that the caller may see, newest first. */
@injectable()
export class ListJobs {
  constructor(private readonly jobs: JobRepository) {}

  /** Fewer than asked for where their results are long. */
  async execute({ by, page, ...filter }: Input): Promise<Bounded<Job>> {
    const caller = authorize(by, permissions.readJobs);
    const teamId = JobSight.teamSeenBy(caller);
    const shown = async (next: Input['page']) => {
      const jobs = await this.jobs.list({ ...filter, teamId }, next);
      return jobs.map((job) => JobSight.shownTo(caller, job));
    };
    return boundedPage(page, shown, ({ result, error }) => [result, error]);
  }
}
