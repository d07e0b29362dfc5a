import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Dataset } from '../../domain/workspace/dataset.js';
import { type FullDataset, ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly datasetId: string;
}

@injectable()
export class ReadDataset {
  constructor(private readonly found: ProjectDatasets) {}

  /** Throws NotFound. */
  async execute(input: Input): Promise<FullDataset> {
    const dataset = await this.withoutRecords(input);
    return { dataset, records: await this.found.records(dataset) };
  }

  /** Throws NotFound. */
  withoutRecords({ by, projectId, datasetId }: Input): Promise<Dataset> {
    return this.found.dataset(authorize(by, permissions.readWorkspace), projectId, datasetId);
  }
}
