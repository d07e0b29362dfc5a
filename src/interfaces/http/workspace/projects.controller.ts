import { injectable } from 'inversify';
import type { ProjectVersionEntry } from '../../../application/workspace/ports.js';
import { type ProjectOverview, ProjectService } from '../../../application/workspace/project.service.js';
import { ProjectReviewService } from '../../../application/workspace/project-review.service.js';
import { Project } from '../../../domain/workspace/project.js';
import { answerFrom, hidden } from '../answer-from.js';
import { conversationAnswer } from '../chat/conversations.controller.js';
import { runtimeAnswer } from '../chat/runtime.controller.js';
import { type CallOf, type Controller, route } from '../contract.js';
import { boundedlyPaged, boundedPageOf, pagedVersions, versionInPath, versionPageOf } from '../paging.js';
import { deleted, expectedVersions, saidVersions } from '../schemas.js';
import { modelAnswer } from './models.controller.js';
import * as contracts from './projects.contract.js';

@injectable()
export class ProjectsController implements Controller {
  readonly routes = [
    route(contracts.createProject, async ({ caller, body: { starter, starter_id = starter, ...content } }) =>
      projectAnswer(await this.projects.create(caller, content, starter_id)),
    ),
    route(contracts.listProjects, async ({ caller, query }) => {
      const { projects, conversations } = await this.projects.list(caller, boundedPageOf(query));
      const { items, ...page } = boundedlyPaged({ ...projects, items: projects.items.map(projectAnswer) });
      return { projects: items, conversations: conversations.map(conversationAnswer), ...page };
    }),
    route(contracts.readProject, async ({ caller, params }) =>
      projectAnswer(await this.projects.read(caller, params.project_id)),
    ),
    route(
      contracts.updateProject,
      async ({ caller, params, body: { version, ...content }, ifMatch }) => {
        const expected = expectedVersions([version], ifMatch);
        return projectAnswer(await this.projects.update(caller, params.project_id, expected, content));
      },
      (call) => this.find(call),
    ),
    route(contracts.deleteProject, async ({ caller, params, ifMatch }) => {
      await this.projects.delete(caller, params.project_id, saidVersions([], ifMatch));
      return deleted(params.project_id);
    }),
    route(
      contracts.reviewProject,
      async ({ caller, params, body, ifMatch }) => {
        const expected = expectedVersions([body.version], ifMatch);
        const { projectId, nextSteps, ...review } = await this.reviews.review(caller, params.project_id, expected);
        return { project_id: projectId, ...review, findings: [...review.findings], next_steps: [...nextSteps] };
      },
      (call) => this.find(call),
    ),
    route(
      contracts.listProjectVersions,
      async ({ caller, params, query }) => {
        const versions = await this.projects.versions(caller, params.project_id, versionPageOf(query));
        return pagedVersions(versions.map(versionEntry), query);
      },
      (call) => this.find(call),
    ),
    route(contracts.readProjectVersion, async ({ caller, params }) => {
      const version = await this.projects.version(caller, params.project_id, versionInPath(params.version));
      return answerFrom(contracts.readProjectVersion.answer, version, { id: params.project_id });
    }),
  ];

  constructor(
    private readonly projects: ProjectService,
    private readonly reviews: ProjectReviewService,
  ) {}

  private find({ caller, params }: Pick<CallOf<typeof contracts.readProject>, 'caller' | 'params'>) {
    return this.projects.find(caller, params.project_id);
  }
}

const projectAnswer = ({ project, models, runtime }: ProjectOverview) =>
  answerFrom(contracts.readProject.answer, project, {
    status: Project.status(project),
    models: models.map(modelAnswer),
    runtime: runtimeAnswer(runtime),
    team_id: hidden,
    updated_by: hidden,
  });

const versionEntry = (entry: ProjectVersionEntry) =>
  answerFrom(contracts.listProjectVersions.answer.shape.versions.element, entry, {});
