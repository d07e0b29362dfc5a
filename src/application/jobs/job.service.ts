import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { finalStatuses, Job, type JobChange, JobSight, type OpenStatus } from '../../domain/jobs/job.js';
import { NotFound } from '../../domain/shared/errors.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, Logger, type Page, UnitOfWork } from '../shared/ports.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { JobFinisher } from './job-finisher.js';
import { type JobFilter, JobRepository } from './ports.js';

interface ExternalJob {
  readonly name: string;
  readonly projectId: string | null;
  readonly status: OpenStatus;
  readonly progress?: JobChange['progress'];
}

interface OfJob {
  readonly id: string;
}

type JobPage = Omit<JobFilter, 'teamId' | 'named' | 'projects'> &
  WithMemory & { readonly page: Page; readonly q?: string | undefined };

/** Shows jobs to callers, and lets callers change them. */
@injectable()
export class JobService {
  constructor(
    private readonly jobs: JobRepository,
    private readonly workspace: TeamWorkspace,
    private readonly finisher: JobFinisher,
    private readonly quotas: StorageQuotas,
    private readonly unitOfWork: UnitOfWork,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Creates a job for work that runs elsewhere. Throws NotFound, InvalidRequest, QuotaExceeded. */
  async createExternal(by: Caller | null, { projectId, ...typed }: ExternalJob): Promise<Job> {
    const caller = authorize(by, permissions.runJobs);
    KeyScope.requireProject(caller, projectId);
    if (projectId !== null) await this.requireProject(caller, projectId);
    const owner = JobSight.ownerOf(caller);
    const job = Job.external({ ...typed, ...owner, id: this.ids.next('job'), projectId, createdAt: this.clock.now() });
    await this.quotas.add(caller, { externalJobs: 1 }, () => this.jobs.add([job]));
    this.log.info('job recorded', { job_id: job.id, kind: job.kind, status: job.status });
    return job;
  }

  /**
   * Lists the jobs that the caller may see, the newest first. Long results shorten the page. With `q`, lists only own jobs,
   * because the names of others are not shown.
   */
  async list(by: Caller | null, { page, memory, q, ...others }: JobPage): Promise<Bounded<Job>> {
    const caller = authorize(by, permissions.readJobs);
    const named = q === undefined ? null : { teamId: JobSight.ownerOf(caller).teamId, part: q };
    if (others.projectId !== null) KeyScope.requireProject(caller, others.projectId);
    const filter = { ...others, named, teamId: JobSight.teamSeenBy(caller), projects: KeyScope.projectsOf(caller) };
    const { items, more } = await boundedPage(page, {
      sizes: (part) => this.jobs.sizes(filter, part),
      fetch: (part) => this.jobs.list(filter, part),
      memory,
    });
    return { items: items.map((job) => JobSight.shownTo(caller, job)), more };
  }

  /** Throws NotFound. */
  async find(by: Caller | null, { id }: OfJob): Promise<Job> {
    const caller = authorize(by, permissions.readJobs);
    const job = await this.jobs.find(id);
    if (!job || !JobSight.canSee(caller, job)) throw new NotFound('job');
    return JobSight.shownTo(caller, job);
  }

  /** Stores the owner's report about an external job. Throws NotFound, InvalidRequest, JobFinished. */
  async change(by: Caller | null, { id, ...change }: OfJob & JobChange): Promise<Job> {
    const caller = authorize(by, permissions.runJobs);
    const at = this.clock.now();
    const changed = (job: Job | null) => Job.change(ownOf(caller, job), change, at);
    const ends = finalStatuses.some((status) => status === change.status);
    return JobSight.shownTo(caller, ends ? await this.finish(id, changed) : await this.update(id, changed));
  }

  /** Throws NotFound, InvalidRequest, JobFinished. */
  async cancel(by: Caller | null, { id }: OfJob): Promise<Job> {
    const caller = authorize(by, permissions.cancelJobs);
    const at = this.clock.now();
    return JobSight.shownTo(caller, await this.finish(id, (job) => Job.cancel(ownOf(caller, job), at)));
  }

  /** Throws NotFound if the caller may not change the job. */
  async requireOwn(by: Caller | null, { id }: OfJob): Promise<void> {
    ownOf(authorize(by, permissions.runJobs), await this.jobs.find(id));
  }

  /** Finishes a job. Calls `end` first without the lock, so that a refused call does not wait for the lock. */
  private async finish(id: string, end: (job: Job | null) => Job): Promise<Job> {
    end(await this.jobs.find(id));
    return this.finisher.finish(id, end);
  }

  private async update(id: string, changed: (job: Job | null) => Job): Promise<Job> {
    const job = await this.unitOfWork.run(async () => {
      const job = changed(await this.jobs.find(id));
      await this.jobs.update(job);
      return job;
    });
    this.log.info('job reported', { job_id: id, kind: job.kind, status: job.status });
    return job;
  }

  private async requireProject(caller: Caller, projectId: string): Promise<void> {
    if (caller.kind === 'master') throw new NotFound('project'); // the master key has no team and no projects
    await this.workspace.project(caller, projectId);
  }
}

function ownOf(caller: Caller, job: Job | null): Job {
  if (!job || !JobSight.canChange(caller, job)) throw new NotFound('job');
  return job;
}
