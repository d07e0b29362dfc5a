import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { Dataset } from '../../domain/workspace/dataset.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import { chosenStarter } from './chosen-starter.js';
import type { DatasetContents } from './dataset-contents.js';
import type { Datasets } from './ports/datasets.js';
import type { Starters } from './ports/starters.js';
import type { FullDataset, ProjectDatasets } from './project-datasets.js';
import { type SentDataset, takenDataset } from './sent-dataset.js';

interface Input extends SentDataset {
  readonly by: Caller | null;
  readonly projectId: string;
  /** Where no records are sent. */
  readonly starterId: string;
}

export class ImportDataset {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: Datasets,
    private readonly starters: Starters,
    private readonly contents: DatasetContents,
    private readonly ids: Identifiers,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, and InvalidRequest with all that is wrong with the import. */
  async execute({ by, projectId, starterId, ...given }: Input): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.found.project(caller, projectId);
    const { name, records: sent } = takenDataset(given);
    const taken = sent
      ? { name: 'Untitled dataset', records: sent }
      : (await chosenStarter(this.starters, starterId)).dataset;
    const draft = {
      id: this.ids.next('dst'),
      projectId: project.id,
      name: name ?? taken.name,
      createdBy: caller.accountId,
      createdAt: this.clock.now(),
    };
    const dataset = Dataset.create(draft, await this.contents.of(taken.records));
    await this.datasets.add(dataset, taken.records);
    return { dataset, records: taken.records };
  }
}
