import { injectable } from 'inversify';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Dataset, DatasetVersion } from '../../domain/workspace/dataset.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { Project } from '../../domain/workspace/project.js';
import { DatasetRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

/** A dataset as it is, with the records of its version. */
export interface FullDataset {
  readonly dataset: Dataset;
  readonly records: readonly DatasetRecord[];
}

/** Finds the datasets of a caller's team; those of another team look as if they did not exist. */
@injectable()
export class ProjectDatasets {
  constructor(
    private readonly found: ProjectModels,
    private readonly datasets: DatasetRepository,
  ) {}

  /** Throws NotFound. */
  project(caller: AccountCaller, projectId: string): Promise<Project> {
    return this.found.project(caller, projectId);
  }

  /** Throws NotFound. */
  async dataset(caller: AccountCaller, projectId: string, datasetId: string): Promise<Dataset> {
    const project = await this.project(caller, projectId);
    const dataset = await this.datasets.find(project.id, datasetId);
    if (!dataset) throw new NotFound('dataset');
    return dataset;
  }

  /** Throws NotFound where the dataset never had the version. */
  async version({ id }: Dataset, number: number): Promise<DatasetVersion> {
    const version = await this.datasets.version(id, number);
    if (!version) throw new NotFound('version');
    return version;
  }

  /** Of the dataset's current version, or another one. Throws NotFound where it never had that, or has been removed. */
  async records(dataset: Dataset, version = dataset.version): Promise<readonly DatasetRecord[]> {
    const records = await this.datasets.records(dataset.id, version);
    if (!records) throw new NotFound('version');
    return records;
  }
}
