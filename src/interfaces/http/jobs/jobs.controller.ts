import { injectable } from 'inversify';
import { EvaluationService } from '../../../application/jobs/evaluation.service.js';
import { JobService } from '../../../application/jobs/job.service.js';
import { Job } from '../../../domain/jobs/job.js';
import { type AnswerOf, type Controller, Reply, route } from '../contract.js';
import { boundedlyPaged, boundedPageOf } from '../paging.js';
import { seconds, secondsOrNull } from '../schemas.js';
import * as contracts from './jobs.contract.js';

@injectable()
export class JobsController implements Controller {
  readonly routes = [
    route(contracts.createJob, async ({ caller, body }) => {
      if (body.kind === 'evaluation') {
        const { project_id: projectId, dataset_id: datasetId, model_id: modelId = null } = body;
        return new Reply(202, jobAnswer(await this.evaluations.create(caller, { projectId, datasetId, modelId })));
      }
      const { name, project_id: projectId = null, status, progress } = body;
      return jobAnswer(await this.jobs.createExternal(caller, { name, projectId, status, progress }));
    }),
    route(contracts.listJobs, async ({ caller, query }) => {
      const { status = null, kind = null, project_id: projectId = null } = query;
      const found = await this.jobs.list(caller, { status, kind, projectId, page: boundedPageOf(query) });
      const { items, ...page } = boundedlyPaged(found);
      return { jobs: items.map(jobAnswer), ...page };
    }),
    route(contracts.readJob, async ({ caller, params }) => jobAnswer(await this.jobs.find(caller, params.job_id))),
    route(
      contracts.changeJob,
      async ({ caller, params, body }) => jobAnswer(await this.jobs.change(caller, params.job_id, body)),
      ({ caller, params }) => this.jobs.requireOwn(caller, params.job_id),
    ),
    route(contracts.cancelJob, async ({ caller, params }) => jobAnswer(await this.jobs.cancel(caller, params.job_id))),
  ];

  constructor(
    private readonly jobs: JobService,
    private readonly evaluations: EvaluationService,
  ) {}
}

export const jobAnswer = (job: Job): AnswerOf<typeof contracts.readJob> => ({
  id: job.id,
  kind: job.kind,
  mode: job.mode,
  status: job.status,
  name: job.name,
  project_id: job.projectId,
  dataset_id: job.datasetId,
  model_id: job.modelId,
  requested_by: job.requestedBy,
  created_at: seconds(job.createdAt),
  started_at: secondsOrNull(job.startedAt),
  finished_at: secondsOrNull(job.finishedAt),
  duration: Job.duration(job),
  progress: job.progress,
  result: job.result,
  error: job.error,
});
