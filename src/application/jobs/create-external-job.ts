import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Job, type JobChange, type OpenStatus } from '../../domain/jobs/job.js';
import { JobSight } from '../../domain/jobs/job-sight.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Clock, IdGenerator, Logger } from '../shared/ports.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { JobRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly name: string;
  readonly projectId: string | null;
  readonly status: OpenStatus;
  readonly progress?: JobChange['progress'];
}

/** Records work that runs elsewhere, which reports itself from then on. */
@injectable()
export class CreateExternalJob {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly jobs: JobRepository,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Throws NotFound, InvalidRequest. */
  async execute({ by, projectId, ...typed }: Input): Promise<Job> {
    const caller = authorize(by, permissions.runJobs);
    if (projectId !== null) await this.requireProject(caller, projectId);
    const owner = JobSight.ownerOf(caller);
    const job = Job.external({ ...typed, ...owner, id: this.ids.next('job'), projectId, createdAt: this.clock.now() });
    await this.jobs.add([job]);
    this.log.info('job recorded', { job_id: job.id, kind: job.kind, status: job.status });
    return job;
  }

  private async requireProject(caller: Caller, projectId: string): Promise<void> {
    if (caller.kind === 'master') throw new NotFound('project'); // it has no team, so no project is its own
    await this.workspace.project(caller, projectId);
  }
}
