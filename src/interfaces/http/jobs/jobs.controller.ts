import { injectable } from 'inversify';
import { EvaluationService } from '../../../application/jobs/evaluation.service.js';
import { JobService } from '../../../application/jobs/job.service.js';
import { ServiceSettings } from '../../../application/shared/ports.js';
import { Job } from '../../../domain/jobs/job.js';
import { answerFrom, hidden, paged } from '../answers.js';
import { type Controller, type Existence, Reply, route } from '../contract.js';
import { boundedPageOf } from '../paging.js';
import * as contracts from './jobs.contract.js';

@injectable()
export class JobsController implements Controller {
  readonly routes = [
    route(contracts.createJob, async ({ caller, body }) => {
      if (body.kind === 'evaluation') {
        const { name = null, project_id: projectId, dataset_id: datasetId, model_id: modelId = null } = body;
        const wanted = { name, projectId, datasetId, modelId };
        return new Reply(202, this.answer(await this.evaluations.create(caller, wanted)));
      }
      const { name, project_id: projectId = null, status, progress } = body;
      return this.answer(await this.jobs.createExternal(caller, { name, projectId, status, progress }));
    }),
    route(contracts.listJobs, async ({ caller, query, memory }) => {
      const { status = null, kind = null, project_id: projectId = null, q } = query;
      const found = await this.jobs.list(caller, { status, kind, projectId, q, page: boundedPageOf(query), memory });
      return paged('jobs', found, (job) => this.answer(job));
    }),
    route(contracts.readJob, async ({ caller, params }) =>
      this.answer(await this.jobs.find(caller, { id: params.job_id })),
    ),
    route(contracts.changeJob, async ({ caller, params, body }) =>
      this.answer(await this.jobs.change(caller, { id: params.job_id, ...body })),
    ),
    route(contracts.cancelJob, async ({ caller, params }) =>
      this.answer(await this.jobs.cancel(caller, { id: params.job_id })),
    ),
  ];

  readonly exists: Existence<'job_id'> = {
    job_id: ({ caller, params }) => this.jobs.requireOwn(caller, { id: params.job_id }),
  };

  constructor(
    private readonly jobs: JobService,
    private readonly evaluations: EvaluationService,
    private readonly settings: ServiceSettings,
  ) {}

  private answer(job: Job) {
    return answerFrom(contracts.readJob.answer, job, {
      currency: this.settings.currency,
      duration: Job.duration(job),
      team_id: hidden,
      instance: hidden,
      usage: job.usage && {
        tokens_in: job.usage.tokensIn,
        tokens_out: job.usage.tokensOut,
        time_to_first_token: job.usage.firstToken,
        calls: job.usage.calls ?? null,
        seconds: job.usage.calls === undefined ? null : (job.usage.seconds ?? null),
      },
      attempts: job.usage?.attempts?.map(({ modelId, outcome, ms }) => ({ model_id: modelId, outcome, ms })) ?? null,
    });
  }
}
