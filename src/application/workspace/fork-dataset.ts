import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { Dataset } from '../../domain/workspace/dataset.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import type { Datasets } from './ports/datasets.js';
import type { FullDataset, ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly datasetId: string;
  readonly name?: string;
}

/** Makes an editable copy of a dataset, which says where it is from. */
export class ForkDataset {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: Datasets,
    private readonly ids: Identifiers,
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
