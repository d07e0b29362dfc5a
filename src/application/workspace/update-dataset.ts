import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { Dataset } from '../../domain/workspace/dataset.js';
import { Clock } from '../shared/ports.js';
import { DatasetContents } from './dataset-contents.js';
import { DatasetRepository } from './ports.js';
import { type FullDataset, ProjectDatasets } from './project-datasets.js';
import { type SentDataset, takenDataset } from './sent-dataset.js';

interface Input extends SentDataset {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly datasetId: string;
  /** The version last read, as the caller says it in one place or in several. */
  readonly expected: readonly number[];
}

@injectable()
export class UpdateDataset {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: DatasetRepository,
    private readonly contents: DatasetContents,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, InvalidRequest, DatasetFrozen, StaleVersion. */
  async execute({ by, projectId, datasetId, expected, ...given }: Input): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    let current = await this.found.dataset(caller, projectId, datasetId);
    if (given.name === undefined && !given.sent) {
      throw new InvalidRequest([{ path: '', message: 'must have a new name, new records, or both' }]);
    }
    const { name, records: sent } = takenDataset(given);
    const content = sent && (await this.contents.of(sent));
    for (;;) {
      const change = { name, content, by: caller.accountId, at: this.clock.now() };
      const next = Dataset.update(current, expected, change);
      // Read before: afterwards the dataset may be removed, and the change that was made would look like none.
      const records = sent ?? (await this.found.records(current));
      if (await this.datasets.replace(current, next, sent)) return { dataset: next, records };
      // A lost race means that the dataset has changed: this look at it, and the next attempt, tell how.
      current = await this.found.dataset(caller, projectId, datasetId);
    }
  }
}
