import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { Dataset } from '../../domain/workspace/dataset.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { Json } from '../../domain/workspace/json.js';
import { nameFindings } from '../../domain/workspace/name.js';
import { readRecords } from '../../domain/workspace/reading-records.js';
import type { Clock } from '../shared/ports/clock.js';
import type { DatasetContents } from './dataset-contents.js';
import type { Datasets } from './ports/datasets.js';
import type { FullDataset, ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly datasetId: string;
  /** The version last read, as the caller says it in one place or in several. */
  readonly expected: readonly number[];
  readonly name?: string;
  readonly records?: readonly Json[];
}

export class UpdateDataset {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: Datasets,
    private readonly contents: DatasetContents,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, InvalidRequest, DatasetFrozen, StaleVersion. */
  async execute({ by, projectId, datasetId, expected, ...sent }: Input): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    let current = await this.found.dataset(caller, projectId, datasetId);
    const { name, records } = read(sent);
    const content = records && (await this.contents.of(records));
    for (;;) {
      const change = { name, content, by: caller.accountId, at: this.clock.now() };
      const next = Dataset.update(current, expected, change);
      if (await this.datasets.replace(current, next, records)) {
        return records ? { dataset: next, records } : this.found.full(next);
      }
      // A lost race means that the dataset has changed: this look at it, and the next attempt, tell how.
      current = await this.found.dataset(caller, projectId, datasetId);
    }
  }
}

function read({ name, records: sent }: Pick<Input, 'name' | 'records'>) {
  if (name === undefined && !sent) {
    throw new InvalidRequest([{ path: '', message: 'must have a new name, new records, or both' }]);
  }
  const { records, problems } = sent ? readRecords(sent) : { records: null, problems: [] };
  const all = [...(name === undefined ? [] : nameFindings(name.trim())), ...problems];
  if (all.length > 0) throw new InvalidRequest(all);
  return { name, records: records as readonly DatasetRecord[] | null };
}
