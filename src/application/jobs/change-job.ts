import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { finalStatuses, Job, type JobChange } from '../../domain/jobs/job.js';
import { JobSight } from '../../domain/jobs/job-sight.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Clock, Logger, UnitOfWork } from '../shared/ports.js';
import { FinishJobs } from './finish-jobs.js';
import { JobRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly id: string;
}

/** How a job goes on that is reported from elsewhere, and how it is ended by hand. */
@injectable()
export class ChangeJob {
  constructor(
    private readonly jobs: JobRepository,
    private readonly finishing: FinishJobs,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Throws NotFound, InvalidRequest, JobFinished. */
  async execute({ by, id, ...change }: Input & JobChange): Promise<Job> {
    const caller = authorize(by, permissions.runJobs);
    const at = this.clock.now();
    const changed = (job: Job | null) => Job.change(ownOf(caller, job), change, at);
    const ends = finalStatuses.some((status) => status === change.status);
    return this.log.within({ job_id: id }, async () =>
      JobSight.shownTo(caller, ends ? await this.finish(id, changed) : await this.update(id, changed)),
    );
  }

  /** Throws NotFound, InvalidRequest, JobFinished. */
  async cancel({ by, id }: Input): Promise<Job> {
    const caller = authorize(by, permissions.cancelJobs);
    const at = this.clock.now();
    return this.log.within({ job_id: id }, async () =>
      JobSight.shownTo(caller, await this.finish(id, (job) => Job.cancel(ownOf(caller, job), at))),
    );
  }

  /** Throws NotFound. */
  async requireOwn({ by, id }: Input): Promise<void> {
    ownOf(authorize(by, permissions.runJobs), await this.jobs.find(id));
  }

  /** Validates before locking. */
  private async finish(id: string, end: (job: Job | null) => Job): Promise<Job> {
    end(await this.jobs.find(id));
    return this.finishing.stored(id, end);
  }

  private async update(id: string, changed: (job: Job | null) => Job): Promise<Job> {
    const job = await this.unitOfWork.run(async () => {
      const job = changed(await this.jobs.find(id));
      await this.jobs.update(job);
      return job;
    });
    this.log.info('job reported', { kind: job.kind, status: job.status });
    return job;
  }
}

function ownOf(caller: Caller, job: Job | null): Job {
  if (!job || !JobSight.canChange(caller, job)) throw new NotFound('job');
  return job;
}
