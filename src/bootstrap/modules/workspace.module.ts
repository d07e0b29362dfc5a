import { ContainerModule } from 'inversify';
import { Audit } from '../../application/audit/audit.js';
import { Conversations } from '../../application/chat/ports/conversations.js';
import { RuntimeStates } from '../../application/chat/runtime-states.js';
import { SettleRuntime } from '../../application/chat/settle-runtime.js';
import { Evaluations } from '../../application/evaluations/ports/evaluations.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { CreateProject } from '../../application/workspace/create-project.js';
import { DeleteProject } from '../../application/workspace/delete-project.js';
import { ListProjects } from '../../application/workspace/list-projects.js';
import { ListStarters } from '../../application/workspace/list-starters.js';
import { Datasets } from '../../application/workspace/ports/datasets.js';
import { Models } from '../../application/workspace/ports/models.js';
import { Projects } from '../../application/workspace/ports/projects.js';
import { Starters } from '../../application/workspace/ports/starters.js';
import { ProjectHistory } from '../../application/workspace/project-history.js';
import { ProjectModels } from '../../application/workspace/project-models.js';
import { ProjectOverviews } from '../../application/workspace/project-overview.js';
import { ReadProject } from '../../application/workspace/read-project.js';
import { ReviewProject } from '../../application/workspace/review-project.js';
import { UpdateProject } from '../../application/workspace/update-project.js';
import { JsonStarters } from '../../infrastructure/files/json-starters.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { TypeOrmProjects } from '../../infrastructure/typeorm/workspace/typeorm-projects.js';
import { ProjectsController } from '../../interfaces/http/workspace/projects.controller.js';
import { StartersController } from '../../interfaces/http/workspace/starters.controller.js';
import type { Config } from '../config/config.js';
import { provide, provideValue } from '../provide.js';

export const workspaceModule = (config: Config) =>
  new ContainerModule((module) => {
    provide(module, Projects, TypeOrmProjects, [TypeOrmUnitOfWork]);
    provideValue(module, Starters, new JsonStarters(config.startersFolder));
    provide(module, ListStarters, ListStarters, [Starters]);
    provide(module, ProjectOverviews, ProjectOverviews, [Models, RuntimeStates]);
    provide(module, CreateProject, CreateProject, [Projects, Starters, ProjectOverviews, Identifiers, Clock]);
    provide(module, ReadProject, ReadProject, [Projects, ProjectOverviews]);
    provide(module, UpdateProject, UpdateProject, [Projects, ProjectOverviews, Clock]);
    provide(module, ListProjects, ListProjects, [Projects, ProjectOverviews, Conversations]);
    provide(module, DeleteProject, DeleteProject, [ProjectModels, Projects, SettleRuntime, Audit]);
    provide(module, ReviewProject, ReviewProject, [
      ProjectModels,
      Projects,
      Datasets,
      Models,
      RuntimeStates,
      Evaluations,
    ]);
    provide(module, ProjectHistory, ProjectHistory, [ProjectModels, Projects]);
    provide(module, ProjectsController, ProjectsController, [
      CreateProject,
      ReadProject,
      UpdateProject,
      ListProjects,
      DeleteProject,
      ReviewProject,
      ProjectHistory,
    ]);
    provide(module, StartersController, StartersController, [ListStarters]);
  });
