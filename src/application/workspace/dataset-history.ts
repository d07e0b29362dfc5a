import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Dataset, DatasetVersion } from '../../domain/workspace/dataset.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import { DatasetRepository, type DatasetVersionEntry } from './ports.js';
import { ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly datasetId: string;
}

/** What a dataset was, version by version. */
@injectable()
export class DatasetHistory {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: DatasetRepository,
  ) {}

  /** Newest first, those before version `before`. Throws NotFound. */
  async list(input: Input & { limit: number; before: number | null }): Promise<DatasetVersionEntry[]> {
    const { id } = await this.dataset(input);
    return this.datasets.versions(id, input);
  }

  /** Throws NotFound. */
  async read(input: Input & { version: number }): Promise<DatasetVersion & { records: readonly DatasetRecord[] }> {
    const dataset = await this.dataset(input);
    const version = await this.found.version(dataset, input.version);
    return { ...version, records: await this.found.records(dataset, input.version) };
  }

  private dataset({ by, projectId, datasetId }: Input): Promise<Dataset> {
    return this.found.dataset(authorize(by, permissions.readWorkspace), projectId, datasetId);
  }
}
