import { injectable } from 'inversify';
import type { ProjectVersionEntry } from '../../../application/workspace/ports.js';
import { type ProjectOverview, ProjectService } from '../../../application/workspace/project.service.js';
import { ProjectReviewService } from '../../../application/workspace/project-review.service.js';
import { Project } from '../../../domain/workspace/project.js';
import { type Starter, starterGroups } from '../../../domain/workspace/starter.js';
import { answerFrom, deleted, hidden, listed, paged } from '../answers.js';
import { conversationAnswer } from '../chat/conversations.controller.js';
import { runtimeAnswer } from '../chat/runtime.controller.js';
import { type Controller, type Existence, route } from '../contract.js';
import { boundedPageOf, numberPageOf, onePage, versionInPath } from '../paging.js';
import { expectedVersions, sentVersions } from '../schemas.js';
import { modelAnswer } from './models.controller.js';
import * as contracts from './projects.contract.js';
import { listStarters } from './starters.contract.js';

@injectable()
export class ProjectsController implements Controller {
  readonly routes = [
    route(listStarters, async ({ caller }) =>
      listed('starters', (await this.projects.starters(caller)).map(starterAnswer)),
    ),
    route(contracts.createProject, async ({ caller, body: { starter, starter_id = starter, ...content } }) =>
      projectAnswer(await this.projects.create(caller, { ...content, starterId: starter_id })),
    ),
    route(contracts.listProjects, async ({ caller, query: { limit, cursor, ...filter }, memory }) => {
      const wanted = { ...filter, page: boundedPageOf({ limit, cursor }), memory };
      const { projects: found, conversations } = await this.projects.list(caller, wanted);
      const projects = { ...found, items: found.items.map(projectAnswer) };
      const page = paged('projects', projects, (project) => project);
      return { ...page, conversations: conversations.map(conversationAnswer) };
    }),
    route(contracts.readProject, async ({ caller, params, memory }) =>
      projectAnswer(await this.projects.read(caller, { projectId: params.project_id, memory })),
    ),
    route(contracts.updateProject, async ({ caller, params, body, ifMatch, signal, memory }) => {
      const { version, ...content } = body;
      const expected = expectedVersions([version], ifMatch);
      const input = { projectId: params.project_id, expected, signal, memory, ...content };
      return projectAnswer(await this.projects.update(caller, input));
    }),
    route(contracts.deleteProject, ({ caller, params: { project_id: id }, ifMatch, signal }) =>
      deleted(id, this.projects.delete(caller, { projectId: id, expected: sentVersions([], ifMatch), signal })),
    ),
    route(contracts.reviewProject, async ({ caller, params, body, ifMatch, signal, memory }) => {
      const expected = expectedVersions([body.version], ifMatch);
      const input = { projectId: params.project_id, expected, signal, memory };
      const { projectId, nextSteps, ...review } = await this.reviews.review(caller, input);
      return { project_id: projectId, ...review, findings: [...review.findings], next_steps: [...nextSteps] };
    }),
    route(contracts.listProjectVersions, async ({ caller, params, query }) => {
      const found = await this.projects.versions(caller, { projectId: params.project_id, page: numberPageOf(query) });
      return paged('versions', onePage(found, query), versionEntry);
    }),
    route(contracts.readProjectVersion, async ({ caller, params }) => {
      const { project_id: projectId, version: number } = params;
      const version = await this.projects.version(caller, { projectId, version: versionInPath(number) });
      return answerFrom(contracts.readProjectVersion.answer, version, { id: params.project_id });
    }),
  ];

  readonly exists: Existence<'project_id'> = {
    project_id: ({ caller, params }) => this.projects.find(caller, { projectId: params.project_id }),
  };

  constructor(
    private readonly projects: ProjectService,
    private readonly reviews: ProjectReviewService,
  ) {}
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

const starterAnswer = (starter: Starter) =>
  answerFrom(listStarters.answer.shape.starters.element, starter, {
    dataset: {
      name: starter.dataset.name,
      record_count: starter.dataset.records.length,
      groups: starterGroups(starter),
      records: [...starter.dataset.records],
    },
  });
