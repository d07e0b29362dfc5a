import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Dataset } from '../../domain/workspace/dataset.js';
import { Audit } from '../audit/audit.js';
import { Clock } from '../shared/ports.js';
import { DatasetRepository } from './ports.js';
import { type FullDataset, ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly datasetId: string;
  /** Empty where the caller freezes whatever is there. */
  readonly expected: readonly number[];
}

/** Makes a dataset immutable. */
@injectable()
export class FreezeDataset {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: DatasetRepository,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, DatasetFrozen, DatasetInvalid, StaleVersion. */
  async execute(input: Input): Promise<FullDataset> {
    const caller = authorize(input.by, permissions.editWorkspace);
    for (;;) {
      const current = await this.found.dataset(caller, input.projectId, input.datasetId);
      const next = Dataset.freeze(current, input.expected, this.clock.now());
      // Read before: afterwards the project may be removed, and the freeze that was made would look like none.
      const records = await this.found.records(current);
      const details = { version: next.version, content_sha256: next.contentSha256 };
      const frozen = await this.audit.perform({ by: caller, action: 'dataset.frozen', object: next, details }, () =>
        this.datasets.replace(current, next, null),
      );
      // A lost race means that the dataset has changed: the next look at it tells how.
      if (frozen) return { dataset: next, records };
    }
  }
}
