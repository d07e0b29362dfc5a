import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { Dataset } from '../../domain/workspace/dataset.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { Json } from '../../domain/workspace/json.js';
import { nameFindings } from '../../domain/workspace/name.js';
import { readRecords } from '../../domain/workspace/reading-records.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import type { DatasetContents } from './dataset-contents.js';
import type { Datasets } from './ports/datasets.js';
import type { Starters } from './ports/starters.js';
import type { FullDataset, ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly name?: string;
  readonly source: { readonly starterId: string } | { readonly records: readonly Json[] };
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
  async execute({ by, projectId, name, source }: Input): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.found.project(caller, projectId);
    const taken = 'records' in source ? given(source.records, name) : await this.started(source.starterId);
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

  private async started(id: string) {
    const starter = await this.starters.find(id);
    if (!starter) throw new InvalidRequest([{ path: 'starter_id', message: 'there is no such starter' }]);
    return starter.dataset;
  }
}

function given(sent: readonly Json[], name = 'Untitled dataset'): { name: string; records: readonly DatasetRecord[] } {
  const { records, problems } = readRecords(sent);
  const all = [...nameFindings(name.trim()), ...problems];
  if (all.length > 0) throw new InvalidRequest(all);
  return { name, records };
}
