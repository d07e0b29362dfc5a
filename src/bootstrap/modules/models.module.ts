import { ContainerModule } from 'inversify';
import { Audit } from '../../application/audit/audit.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { CreateModel } from '../../application/workspace/create-model.js';
import { DeleteModel } from '../../application/workspace/delete-model.js';
import { DeleteModelAlias } from '../../application/workspace/delete-model-alias.js';
import { DraftModels } from '../../application/workspace/draft-models.js';
import { ForkModel } from '../../application/workspace/fork-model.js';
import { ListModelAliases } from '../../application/workspace/list-model-aliases.js';
import { ListModelVersions } from '../../application/workspace/list-model-versions.js';
import { ListModels } from '../../application/workspace/list-models.js';
import { ModelAliases } from '../../application/workspace/ports/model-aliases.js';
import { Models } from '../../application/workspace/ports/models.js';
import { Projects } from '../../application/workspace/ports/projects.js';
import { ProjectModels } from '../../application/workspace/project-models.js';
import { ReadModel } from '../../application/workspace/read-model.js';
import { ReadModelAlias } from '../../application/workspace/read-model-alias.js';
import { ReadModelVersion } from '../../application/workspace/read-model-version.js';
import { ReadProject } from '../../application/workspace/read-project.js';
import { RegisterModel } from '../../application/workspace/register-model.js';
import { SetModelAlias } from '../../application/workspace/set-model-alias.js';
import { UpdateModel } from '../../application/workspace/update-model.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { TypeOrmModelAliases } from '../../infrastructure/typeorm/workspace/typeorm-model-aliases.js';
import { TypeOrmModels } from '../../infrastructure/typeorm/workspace/typeorm-models.js';
import { ModelAliasesController } from '../../interfaces/http/workspace/model-aliases.controller.js';
import { ModelVersionsController } from '../../interfaces/http/workspace/model-versions.controller.js';
import { ModelsController } from '../../interfaces/http/workspace/models.controller.js';
import { provide } from '../provide.js';

export const modelsModule = () =>
  new ContainerModule((module) => {
    provide(module, Models, TypeOrmModels, [TypeOrmUnitOfWork]);
    provide(module, ModelAliases, TypeOrmModelAliases, [TypeOrmUnitOfWork]);
    provide(module, ProjectModels, ProjectModels, [Projects, Models]);
    provide(module, DraftModels, DraftModels, [Models, Identifiers, Clock]);
    provide(module, CreateModel, CreateModel, [ProjectModels, DraftModels]);
    provide(module, ListModels, ListModels, [ProjectModels, Models]);
    provide(module, ReadModel, ReadModel, [ProjectModels]);
    provide(module, UpdateModel, UpdateModel, [ProjectModels, Models, Clock]);
    provide(module, RegisterModel, RegisterModel, [ProjectModels, Models, Audit, Clock]);
    provide(module, ForkModel, ForkModel, [ProjectModels, DraftModels]);
    provide(module, DeleteModel, DeleteModel, [ProjectModels, Models, Audit]);
    provide(module, ModelsController, ModelsController, [
      CreateModel,
      ListModels,
      ReadModel,
      UpdateModel,
      RegisterModel,
      ForkModel,
      DeleteModel,
      ReadProject,
    ]);
    provide(module, ListModelVersions, ListModelVersions, [ProjectModels, Models]);
    provide(module, ReadModelVersion, ReadModelVersion, [ProjectModels, Models]);
    provide(module, ModelVersionsController, ModelVersionsController, [ListModelVersions, ReadModelVersion, ReadModel]);
    provide(module, SetModelAlias, SetModelAlias, [ProjectModels, ModelAliases, Audit, Clock]);
    provide(module, ReadModelAlias, ReadModelAlias, [ProjectModels, ModelAliases]);
    provide(module, ListModelAliases, ListModelAliases, [ProjectModels, ModelAliases]);
    provide(module, DeleteModelAlias, DeleteModelAlias, [ProjectModels, ModelAliases, Audit, Clock]);
    provide(module, ModelAliasesController, ModelAliasesController, [
      SetModelAlias,
      ReadModelAlias,
      ListModelAliases,
      DeleteModelAlias,
      ReadProject,
    ]);
  });
