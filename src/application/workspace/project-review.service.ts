import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { shareOf } from '../../domain/jobs/evaluation.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Prices } from '../../domain/spend/prices.js';
import type { Dataset } from '../../domain/workspace/dataset.js';
import type { Model } from '../../domain/workspace/model.js';
import { type Project, requireVersion } from '../../domain/workspace/project.js';
import { RecordSurvey } from '../../domain/workspace/record-survey.js';
import { type Review, review } from '../../domain/workspace/review.js';
import type { Reviewed, ReviewedDataset, ReviewedEvaluation } from '../../domain/workspace/review-finding.js';
import { formatOf, schemaOf } from '../../domain/workspace/spec-format.js';
import { RuntimeReconciler } from '../chat/runtime-reconciler.js';
import { EvaluationRepository } from '../jobs/ports.js';
import { PAGE_BYTES } from '../shared/bounded-page.js';
import { HeldMemory } from '../shared/held-memory.js';
import type { Reservation, WithMemory } from '../shared/memory-budget.js';
import { JsonSchemas } from '../shared/ports.js';
import { retryWrite } from '../shared/retry-write.js';
import { BudgetRepository } from '../spend/ports.js';
import { ContentHasher, DatasetRepository, ModelRepository, ProjectRepository } from './ports.js';
import { RecordPages } from './record-pages.js';
import { type Change, type InProject, TeamWorkspace } from './team-workspace.js';

@injectable()
export class ProjectReviewService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly projects: ProjectRepository,
    private readonly datasets: DatasetRepository,
    private readonly models: ModelRepository,
    private readonly runtimes: RuntimeReconciler,
    private readonly evaluations: EvaluationRepository,
    private readonly budgets: BudgetRepository,
    private readonly schemas: JsonSchemas,
    private readonly pages: RecordPages,
    private readonly hasher: ContentHasher,
  ) {}

  /** Reviews the project. Stores whether the current version has no blocking finding. Throws NotFound, StaleVersion. */
  async review(
    by: Caller | null,
    { projectId, expected, signal, memory }: InProject & Change & WithMemory,
  ): Promise<Review> {
    const caller = authorize(by, permissions.editWorkspace);
    return retryWrite(signal, async () => {
      const project = await this.workspace.project(caller, projectId);
      requireVersion(project, expected);
      const verdict = review(await this.reviewed(project, memory));
      const earlier = project.reviewedVersion === project.version ? null : project.reviewedVersion;
      const reviewedVersion = verdict.ready ? project.version : earlier;
      // False: the project has a newer version now, so the next attempt reviews the newer version.
      return (await this.projects.noteReview({ ...project, reviewedVersion })) && verdict;
    });
  }

  private async reviewed(project: Project, memory: Reservation): Promise<Reviewed> {
    const named = await this.named(project);
    const modelBytes = (await this.models.registeredBytes([project.id])).get(project.id) ?? 0;
    await memory.reserve(modelBytes, Math.min(named?.bytes ?? 0, PAGE_BYTES));
    const [registered, newest, dataset, runtime] = await Promise.all([
      this.models.registered([project.id]),
      this.models.all({ projectId: project.id }, { limit: 1, after: null }),
      named && this.surveyed(named, memory),
      this.runtimes.state(project.id),
    ]);
    const evaluation = dataset && (await this.evaluation(project.id, dataset.id));
    const schema = schemaOf(formatOf(project.spec.response_format));
    const schemaProblem = schema && (await this.schemas.problem(schema, project.teamId));
    const unpriced = await this.unpriced(project, registered, runtime);
    return { project, models: [...registered, ...newest], dataset, runtime, unpriced, schemaProblem, evaluation };
  }

  /** Returns a model without prices that may answer calls, if a budget limits their cost. */
  private async unpriced(
    { id, teamId }: Project,
    registered: readonly Model[],
    { targets }: Pick<ProjectRuntime, 'targets'>,
  ): Promise<string | null> {
    const connected = registered.filter((one) => targets.some(({ modelId }) => modelId === one.id));
    const answering = connected.length > 0 ? connected : registered.slice(0, 1);
    const model = answering.find(({ spec }) => !Prices.ofModel(spec));
    return model && (await this.budgets.limitCost(teamId, id)) ? model.id : null;
  }

  private async evaluation(projectId: string, datasetId: string): Promise<ReviewedEvaluation | null> {
    const evaluation = await this.evaluations.latest(projectId, datasetId);
    if (!evaluation) return null;
    const scores = await this.evaluations.scored(evaluation.jobId);
    return { ...evaluation, share: shareOf(scores.filter(({ score }) => score === 1).length, scores.length) };
  }

  private async named({ id: projectId, spec }: Project): Promise<Dataset | null> {
    return typeof spec.dataset_id === 'string' ? this.datasets.find(projectId, spec.dataset_id) : null;
  }

  /** Returns null if the dataset was removed meanwhile. */
  private async surveyed(dataset: Dataset, memory: Reservation): Promise<ReviewedDataset | null> {
    const survey = new RecordSurvey((text) => this.hasher.short(text));
    const held = new HeldMemory(memory);
    try {
      for await (const records of this.pages.all({ datasetId: dataset.id, version: dataset.version })) {
        survey.add(records);
        await held.reach(survey.bytes);
      }
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
    return { ...dataset, valid: dataset.validation.valid, survey };
  }
}
