import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { RuntimeNotConnected, RuntimeStopped } from '../../domain/chat/errors.js';
import { TooManyEvaluations } from '../../domain/jobs/errors.js';
import { Evaluation, QUEUED_PER_TEAM, type Result } from '../../domain/jobs/evaluation.js';
import { compareScores, type EvaluationComparison } from '../../domain/jobs/evaluation-comparison.js';
import { Job, JobSight } from '../../domain/jobs/job.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import type { Dataset } from '../../domain/workspace/dataset.js';
import { Model } from '../../domain/workspace/model.js';
import type { Project } from '../../domain/workspace/project.js';
import { formatOf, schemaOf } from '../../domain/workspace/spec-format.js';
import { RuntimeReconciler } from '../chat/runtime-reconciler.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import { joined } from '../shared/joined.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, JsonSchemas, Logger, type Page, UnitOfWork, WorkQueue } from '../shared/ports.js';
import { RecordPages } from '../workspace/record-pages.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { EVALUATION } from './evaluation-runner.js';
import { EvaluationRepository, JobRepository, type ResultsPage } from './ports.js';

/** The lock for queueing evaluations. It keeps the number of queued evaluations within the limit. */
const QUEUEING = 'queueing evaluations';

interface NewEvaluation {
  /** The name of the job. Null: the name of the dataset. */
  readonly name: string | null;
  readonly projectId: string;
  readonly datasetId: string;
  /** The model to evaluate. Null: the connected model. */
  readonly modelId: string | null;
}

/** The results that an export reads together. */
const MOST_IN_PART = 100;

interface Results extends WithMemory {
  readonly id: string;
  readonly page: ResultsPage;
}

/** Creates and reads the evaluations of a team's projects. */
@injectable()
export class EvaluationService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly pages: RecordPages,
    private readonly runtimes: RuntimeReconciler,
    private readonly jobs: JobRepository,
    private readonly evaluations: EvaluationRepository,
    private readonly schemas: JsonSchemas,
    private readonly queue: WorkQueue,
    private readonly unitOfWork: UnitOfWork,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Queues an evaluation. Throws NotFound, InvalidRequest, TooManyEvaluations, RuntimeNotConnected, RuntimeStopped. */
  async create(by: Caller | null, { name, projectId, datasetId, modelId }: NewEvaluation): Promise<Job> {
    const caller = authorize(by, permissions.runEvaluations);
    const project = await this.workspace.project(caller, projectId);
    const named = await this.workspace.dataset(caller, projectId, datasetId);
    const wanted = modelId === null ? null : await this.workspace.model(caller, projectId, modelId);
    requireFrozen(named);
    const dataset = await this.pages.withDigest({ datasetId, version: named.version }, named);
    if (wanted) Model.requireRegistered(wanted);
    const scorer = Evaluation.scorer(project);
    await this.requireSchema(project);
    const model = await this.connected(caller, projectId, wanted);
    const id = this.ids.next('job');
    const keyId = caller.kind === 'api_key' ? caller.credentialId : null;
    const evaluation = Evaluation.of(id, { project, model, dataset, scorer, keyId });
    const job = Job.evaluation({
      ...JobSight.ownerOf(caller),
      id,
      name: name ?? dataset.name,
      projectId,
      datasetId,
      keyId,
      modelId: model.id,
      progress: { done: 0, total: dataset.recordCount },
      createdAt: this.clock.now(),
    });
    await this.unitOfWork.locked(QUEUEING, async () => {
      await this.requireRoom(caller);
      await this.jobs.add([job]);
      await this.evaluations.add(evaluation);
      // The evaluations of one team run one after another, so that they do not block other teams.
      await this.queue.enqueue(EVALUATION, { job_id: id }, { key: id, queueName: `${EVALUATION} ${caller.teamId}` });
    });
    this.log.info('job queued', { job_id: id, kind: job.kind, records: dataset.recordCount });
    return job;
  }

  /** Lists the scored records, also of a running evaluation. Long texts shorten the page. Throws NotFound. */
  async results(by: Caller | null, { id, page, memory }: Results): Promise<Bounded<Result>> {
    const { jobId } = await this.find(by, { id });
    return this.page(jobId, page, memory);
  }

  /** Returns all that `results` lists, in parts. Throws NotFound. */
  async export(by: Caller | null, { id, memory }: Omit<Results, 'page'>): Promise<AsyncIterable<readonly Result[]>> {
    const { jobId } = await this.find(by, { id });
    const parts = this.parts(jobId, memory);
    return joined(await parts.next(), parts); // a refusal comes before the file begins
  }

  /** Compares two evaluations of the same records by the same metric. Throws NotFound, InvalidRequest. */
  async compare(by: Caller | null, { id, before }: { id: string; before: string }): Promise<EvaluationComparison> {
    const own = await this.find(by, { id });
    const other = await this.find(by, { id: before });
    const unfit = (message: string) => new InvalidRequest([{ path: 'with', message }]);
    if (own.contentSha256 !== other.contentSha256) throw unfit('must be an evaluation of the same records');
    if (metricOf(own) !== metricOf(other)) {
      throw unfit(
        `must be an evaluation by the same metric: it is by ${metricOf(other)}, this one by ${metricOf(own)}`,
      );
    }
    const [after, earlier] = [await this.evaluations.scored(id), await this.evaluations.scored(before)];
    const positions = new Set(earlier.map(({ position }) => position));
    const hasCommon = after.some(({ position }) => positions.has(position));
    if (!hasCommon) throw unfit('must be an evaluation that has scored the same records: none has been scored by both');
    return compareScores({ before: earlier, after, differing: await this.evaluations.differing(id, before) });
  }

  /** Throws NotFound. */
  async find(by: Caller | null, { id }: { id: string }): Promise<Evaluation> {
    const caller = authorize(by, permissions.readJobs);
    const job = await this.jobs.find(id);
    const isOwn = caller.kind !== 'master' && job?.teamId === caller.teamId && KeyScope.covers(caller, job.projectId);
    const evaluation = isOwn ? await this.evaluations.find(id) : null;
    if (!evaluation) throw new NotFound('evaluation');
    return evaluation;
  }

  private async *parts(jobId: string, memory: Results['memory']): AsyncGenerator<readonly Result[]> {
    // A part holds the memory of the one before: a file that has begun should not end early for a lack of memory.
    const growing = { reserve: (bytes: number) => memory.grow(bytes) };
    for (let after: number | null = null, more = true; more; ) {
      const part: Bounded<Result> = await this.page(jobId, { limit: MOST_IN_PART, after }, growing);
      yield part.items;
      after = part.items.at(-1)?.position ?? after;
      more = part.more;
    }
    // Results that were deleted meanwhile must not make a shorter file.
    if (!(await this.evaluations.find(jobId))) throw new NotFound('evaluation');
  }

  private page(
    jobId: string,
    { limit, after }: ResultsPage,
    memory: Pick<Results['memory'], 'reserve'>,
  ): Promise<Bounded<Result>> {
    const positions = (page: Page) => ({ ...page, after: page.after === null ? null : Number(page.after) });
    const first = { limit, after: after === null ? null : String(after) };
    return boundedPage(first, {
      sizes: (page) => this.evaluations.resultSizes(jobId, positions(page)),
      fetch: (page) => this.evaluations.results(jobId, positions(page)),
      memory,
    });
  }

  private async requireSchema({ spec, teamId }: Project): Promise<void> {
    const schema = schemaOf(formatOf(spec.response_format));
    const problem = schema && (await this.schemas.problem(schema, teamId));
    if (!problem) return;
    const message = `has a JSON schema in spec.response_format that cannot be used: ${problem}`;
    throw new InvalidRequest([{ path: 'project_id', message }]);
  }

  private async requireRoom({ teamId }: AccountCaller): Promise<void> {
    const waiting = { teamId, status: 'queued', kind: 'evaluation', projectId: null } as const;
    const queued = await this.jobs.list(waiting, { limit: QUEUED_PER_TEAM, after: null });
    if (queued.length === QUEUED_PER_TEAM) throw new TooManyEvaluations(QUEUED_PER_TEAM);
  }

  private async connected(caller: AccountCaller, projectId: string, wanted: Model | null): Promise<Model> {
    const { state, modelId } = await this.runtimes.state(projectId);
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

/** Returns the metric with its parameters, for error texts. */
const metricOf = ({ metric, tolerance, field }: Evaluation): string =>
  (metric === 'numeric' ? `numeric with a tolerance of ${tolerance}` : metric) +
  (field ? ` of the field ${field}` : '');
