import { injectable } from 'inversify';
import { CreateProject } from '../../../application/workspace/create-project.js';
import { DeleteProject } from '../../../application/workspace/delete-project.js';
import { ListProjects } from '../../../application/workspace/list-projects.js';
import type { ProjectVersionEntry } from '../../../application/workspace/ports.js';
import { ProjectHistory } from '../../../application/workspace/project-history.js';
import type { ProjectOverview } from '../../../application/workspace/project-overview.js';
import { ReadProject } from '../../../application/workspace/read-project.js';
import { ReviewProject } from '../../../application/workspace/review-project.js';
import { UpdateProject } from '../../../application/workspace/update-project.js';
import { Project } from '../../../domain/workspace/project.js';
import { conversationAnswer } from '../chat/conversations.controller.js';
import { runtimeAnswer } from '../chat/runtime.controller.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { boundedlyPaged, boundedPageOf, pagedVersions, versionInPath, versionPageOf } from '../paging.js';
import { deleted, seconds } from '../schemas.js';
import { expectedVersions, saidVersions } from '../versions.js';
import { modelAnswer } from './models.controller.js';
import * as contracts from './projects.contract.js';

@injectable()
export class ProjectsController implements Controller {
  readonly routes = [
    route(contracts.createProject, async ({ caller, body: { starter, starter_id = starter, ...typed } }) =>
      projectAnswer(await this.createProject.execute({ by: caller, starterId: starter_id, ...typed })),
    ),
    route(contracts.listProjects, async ({ caller, query }) => {
      const found = await this.listProjects.execute({ by: caller, ...boundedPageOf(query) });
      const { items, more } = found.projects;
      const { items: projects, ...page } = boundedlyPaged({ items: items.map(projectAnswer), more });
      return { projects, conversations: found.conversations.map(conversationAnswer), ...page };
    }),
    route(contracts.readProject, async ({ caller, params }) =>
      projectAnswer(await this.readProject.execute({ by: caller, projectId: params.project_id })),
    ),
    route(
      contracts.updateProject,
      async ({ caller, params, body: { version, ...change }, ifMatch }) => {
        const expected = expectedVersions([version], ifMatch);
        const input = { by: caller, projectId: params.project_id, expected, ...change };
        return projectAnswer(await this.updateProject.execute(input));
      },
      ({ caller, params }) => this.readProject.execute({ by: caller, projectId: params.project_id }),
    ),
    route(contracts.deleteProject, async ({ caller, params, ifMatch }) => {
      const expected = saidVersions([], ifMatch);
      await this.deleteProject.execute({ by: caller, projectId: params.project_id, expected });
      return deleted(params.project_id);
    }),
    route(
      contracts.reviewProject,
      async ({ caller, params, body, ifMatch }) => {
        const expected = expectedVersions([body.version], ifMatch);
        const found = await this.reviewProject.execute({ by: caller, projectId: params.project_id, expected });
        const { projectId: project_id, nextSteps, ...review } = found;
        return { project_id, ...review, findings: [...review.findings], next_steps: [...nextSteps] };
      },
      ({ caller, params }) => this.readProject.execute({ by: caller, projectId: params.project_id }),
    ),
    route(
      contracts.listProjectVersions,
      async ({ caller, params, query }) => {
        const found = await this.history.list({ by: caller, projectId: params.project_id, ...versionPageOf(query) });
        return pagedVersions(found.map(versionEntry), query);
      },
      ({ caller, params }) => this.readProject.execute({ by: caller, projectId: params.project_id }),
    ),
    route(contracts.readProjectVersion, async ({ caller, params }) => {
      const input = { by: caller, projectId: params.project_id, version: versionInPath(params.version) };
      const found = await this.history.read(input);
      return { ...versionEntry(found), id: params.project_id, spec: found.spec };
    }),
  ];

  constructor(
    private readonly createProject: CreateProject,
    private readonly readProject: ReadProject,
    private readonly updateProject: UpdateProject,
    private readonly listProjects: ListProjects,
    private readonly deleteProject: DeleteProject,
    private readonly reviewProject: ReviewProject,
    private readonly history: ProjectHistory,
  ) {}
}

const projectAnswer = ({ project, models, runtime }: ProjectOverview): AnswerOf<typeof contracts.readProject> => ({
  id: project.id,
  name: project.name,
  status: Project.status(project),
  version: project.version,
  spec: project.spec,
  created_by: project.createdBy,
  created_at: seconds(project.createdAt),
  updated_at: seconds(project.updatedAt),
  reviewed_version: project.reviewedVersion,
  models: models.map(modelAnswer),
  runtime: runtimeAnswer(runtime),
});

const versionEntry = ({ version, name, createdAt, createdBy }: ProjectVersionEntry) => ({
  version,
  name,
  created_at: seconds(createdAt),
  created_by: createdBy,
});
