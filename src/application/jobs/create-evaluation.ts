import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { RuntimeNotConnected, RuntimeStopped } from '../../domain/chat/errors.js';
import { TooManyEvaluations } from '../../domain/jobs/errors.js';
import { Evaluation, QUEUED_PER_TEAM } from '../../domain/jobs/evaluation.js';
import { Job } from '../../domain/jobs/job.js';
import { JobSight } from '../../domain/jobs/job-sight.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { Dataset } from '../../domain/workspace/dataset.js';
import { Model } from '../../domain/workspace/model.js';
import { RuntimeStates } from '../chat/runtime-states.js';
import { Clock, IdGenerator, Locks, Logger, WorkQueue } from '../shared/ports.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { EvaluationRepository, JobRepository } from './ports.js';
import { EVALUATION } from './run-evaluation.js';

/** Whoever queues evaluations stands in this line, so that no more of them get in than there is room for. */
const QUEUEING = 'queueing evaluations';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly datasetId: string;
  /** Null: whichever is connected. */
  readonly modelId: string | null;
}

/** Has a frozen dataset run through a project's runtime. */
@injectable()
export class CreateEvaluation {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly runtimes: RuntimeStates,
    private readonly jobs: JobRepository,
    private readonly evaluations: EvaluationRepository,
    private readonly queue: WorkQueue,
    private readonly line: Locks,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Throws NotFound, InvalidRequest, TooManyEvaluations, RuntimeNotConnected, RuntimeStopped. */
  async execute({ by, projectId, datasetId, modelId }: Input): Promise<Job> {
    const caller = authorize(by, permissions.runEvaluations);
    const project = await this.workspace.project(caller, projectId);
    const dataset = await this.workspace.dataset(caller, projectId, datasetId);
    const wanted = modelId === null ? null : await this.workspace.model(caller, projectId, modelId);
    requireFrozen(dataset);
    if (wanted) Model.requireRegistered(wanted);
    const scorer = Evaluation.scorer(project);
    const model = await this.connected(caller, projectId, wanted);
    const id = this.ids.next('job');
    const evaluation = Evaluation.of(id, { project, model, dataset, scorer });
    const job = Job.evaluation({
      ...JobSight.ownerOf(caller),
      id,
      name: dataset.name,
      projectId,
      datasetId,
      modelId: model.id,
      progress: { done: 0, total: dataset.recordCount },
      createdAt: this.clock.now(),
    });
    await this.line.run(QUEUEING, async () => {
      await this.requireRoom(caller);
      await this.jobs.add([job]);
      await this.evaluations.add(evaluation);
      await this.queue.enqueue(EVALUATION, { job_id: id }, { key: id });
    });
    this.log.info('job queued', { job_id: id, kind: job.kind, records: dataset.recordCount });
    return job;
  }

  private async requireRoom({ teamId }: AccountCaller): Promise<void> {
    const waiting = { teamId, status: 'queued', kind: 'evaluation', projectId: null } as const;
    const queued = await this.jobs.list(waiting, { limit: QUEUED_PER_TEAM, after: null });
    if (queued.length === QUEUED_PER_TEAM) throw new TooManyEvaluations(QUEUED_PER_TEAM);
  }

  private async connected(caller: AccountCaller, projectId: string, wanted: Model | null): Promise<Model> {
    const { state, modelId } = await this.runtimes.of(projectId);
    if (modelId !== null && wanted && wanted.id !== modelId) {
      const message = `must be the model that is connected as the project's runtime, ${modelId}`;
      throw new InvalidRequest([{ path: 'model_id', message }]);
    }
    if (modelId === null) throw new RuntimeNotConnected();
    if (state === 'stopped') throw new RuntimeStopped();
    return this.workspace.model(caller, projectId, modelId);
  }
}

function requireFrozen({ state }: Dataset): void {
  if (state === 'frozen') return;
  throw new InvalidRequest([{ path: 'dataset_id', message: 'must be a frozen dataset: freeze it first' }]);
}
