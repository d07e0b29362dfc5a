import { ContainerModule } from 'inversify';
import { Audit } from '../../application/audit/audit.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { CompareDatasets } from '../../application/workspace/compare-datasets.js';
import { DatasetContents } from '../../application/workspace/dataset-contents.js';
import { DatasetHistory } from '../../application/workspace/dataset-history.js';
import { DeleteDataset } from '../../application/workspace/delete-dataset.js';
import { ForkDataset } from '../../application/workspace/fork-dataset.js';
import { FreezeDataset } from '../../application/workspace/freeze-dataset.js';
import { ImportDataset } from '../../application/workspace/import-dataset.js';
import { ListDatasets } from '../../application/workspace/list-datasets.js';
import { ContentHasher } from '../../application/workspace/ports/content-hasher.js';
import { Datasets } from '../../application/workspace/ports/datasets.js';
import { Starters } from '../../application/workspace/ports/starters.js';
import { ProjectDatasets } from '../../application/workspace/project-datasets.js';
import { ProjectModels } from '../../application/workspace/project-models.js';
import { ReadDataset } from '../../application/workspace/read-dataset.js';
import { ReadProject } from '../../application/workspace/read-project.js';
import { UpdateDataset } from '../../application/workspace/update-dataset.js';
import { Sha256ContentHasher } from '../../infrastructure/crypto/sha256-content-hasher.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { TypeOrmDatasets } from '../../infrastructure/typeorm/workspace/typeorm-datasets.js';
import { DatasetVersionsController } from '../../interfaces/http/workspace/dataset-versions.controller.js';
import { DatasetsController } from '../../interfaces/http/workspace/datasets.controller.js';
import { provide } from '../provide.js';

export const datasetsModule = () =>
  new ContainerModule((module) => {
    provide(module, Datasets, TypeOrmDatasets, [TypeOrmUnitOfWork]);
    provide(module, ContentHasher, Sha256ContentHasher, []);
    provide(module, DatasetContents, DatasetContents, [ContentHasher]);
    provide(module, ProjectDatasets, ProjectDatasets, [ProjectModels, Datasets]);
    provide(module, ListDatasets, ListDatasets, [ProjectDatasets, Datasets]);
    const making = [Identifiers, Clock] as const;
    provide(module, ImportDataset, ImportDataset, [ProjectDatasets, Datasets, Starters, DatasetContents, ...making]);
    provide(module, ReadDataset, ReadDataset, [ProjectDatasets]);
    provide(module, UpdateDataset, UpdateDataset, [ProjectDatasets, Datasets, DatasetContents, Clock]);
    provide(module, DeleteDataset, DeleteDataset, [ProjectDatasets, Datasets, Audit]);
    provide(module, FreezeDataset, FreezeDataset, [ProjectDatasets, Datasets, Audit, Clock]);
    provide(module, ForkDataset, ForkDataset, [ProjectDatasets, Datasets, ...making]);
    provide(module, DatasetHistory, DatasetHistory, [ProjectDatasets, Datasets]);
    provide(module, CompareDatasets, CompareDatasets, [ProjectDatasets]);
    const changing = [UpdateDataset, DeleteDataset, FreezeDataset, ForkDataset] as const;
    const sources = [ListDatasets, ImportDataset, ReadDataset, ...changing, ReadProject] as const;
    provide(module, DatasetsController, DatasetsController, [...sources]);
    provide(module, DatasetVersionsController, DatasetVersionsController, [
      DatasetHistory,
      CompareDatasets,
      ReadDataset,
    ]);
  });
