import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { requireEditable } from '../../domain/workspace/dataset.js';
import { Audit } from '../audit/audit.js';
import { DatasetRepository } from './ports.js';
import { ProjectDatasets } from './project-datasets.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly datasetId: string;
  /** Empty where the caller removes whatever is there. */
  readonly expected: readonly number[];
}

/** Removes an editable dataset; a frozen one goes only with its project. */
@injectable()
export class DeleteDataset {
  constructor(
    private readonly found: ProjectDatasets,
    private readonly datasets: DatasetRepository,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, DatasetFrozen, StaleVersion. */
  async execute(input: Input): Promise<void> {
    const caller = authorize(input.by, permissions.editWorkspace);
    for (;;) {
      const current = await this.found.dataset(caller, input.projectId, input.datasetId);
      requireEditable(current, input.expected);
      const removed = await this.audit.perform({ by: caller, action: 'dataset.deleted', object: current }, () =>
        this.datasets.remove(current),
      );
      // A lost race means that the dataset has changed: the next look at it tells how.
      if (removed) return;
    }
  }
}
