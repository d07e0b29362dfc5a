import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Dataset } from '../../domain/workspace/dataset.js';
import { Clock, IdGenerator } from '../shared/ports.js';
import { DatasetRepository } from './ports.js';
import { type FullDataset, ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly datasetId: string;
  readonly name?: string;
}

/** Makes an editable copy of a dataset, which says where it is from. */
@injectable()
export class ForkDataset {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: DatasetRepository,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, InvalidRequest. */
  async execute({ by, projectId, datasetId, name }: Input): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    const original = await this.found.dataset(caller, projectId, datasetId);
    const draft = { id: this.ids.next('dst'), createdBy: caller.accountId, createdAt: this.clock.now() };
    const dataset = Dataset.fork(original, { ...draft, name });
    const records = await this.found.records(original);
    await this.datasets.add(dataset, records);
    return { dataset, records };
  }
}
