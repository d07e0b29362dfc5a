import type { CreateProject } from '../../../application/workspace/create-project.js';
import type { ProjectOverview } from '../../../application/workspace/project-overview.js';
import type { ReadProject } from '../../../application/workspace/read-project.js';
import type { UpdateProject } from '../../../application/workspace/update-project.js';
import { Project } from '../../../domain/workspace/project.js';
import { runtimeAnswer } from '../chat/runtime.controller.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { seconds } from '../schemas.js';
import { expectedVersions } from '../versions.js';
import { modelAnswer } from './models.controller.js';
import * as contracts from './projects.contract.js';

export class ProjectsController implements Controller {
  readonly routes = [
    route(contracts.createProject, async ({ caller, body }) =>
      projectAnswer(await this.createProject.execute({ by: caller, ...body })),
    ),
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
  ];

  constructor(
    private readonly createProject: CreateProject,
    private readonly readProject: ReadProject,
    private readonly updateProject: UpdateProject,
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
