import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Dataset } from '../../domain/workspace/dataset.js';
import { Clock, IdGenerator } from '../shared/ports.js';
import { chosenStarter } from './chosen-starter.js';
import { DatasetContents } from './dataset-contents.js';
import { DatasetRepository, StarterCatalog } from './ports.js';
import { type FullDataset, ProjectDatasets } from './project-datasets.js';
import { type SentDataset, takenDataset } from './sent-dataset.js';

interface Input extends SentDataset {
  readonly by: Caller | null;
  readonly projectId: string;
  /** Where no records are sent. */
  readonly starterId: string;
}

@injectable()
export class ImportDataset {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: DatasetRepository,
    private readonly starters: StarterCatalog,
    private readonly contents: DatasetContents,
    private readonly ids: IdGenerator,
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
