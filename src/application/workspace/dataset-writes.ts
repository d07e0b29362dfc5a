import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { changeBytes } from '../../domain/shared/storage-quota.js';
import type { Dataset } from '../../domain/workspace/dataset.js';
import { Authority } from '../accounts/authority.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import { ServiceSettings } from '../shared/ports.js';
import { retryWrite } from '../shared/retry-write.js';
import { DatasetRepository, type RecordChange, type RecordDraft } from './ports.js';
import { type Change, type OfDataset, TeamWorkspace } from './team-workspace.js';

/** A write of a new version. Without a change, it has the records of the version before. */
interface Replacement extends Pick<Change, 'signal'> {
  readonly before: Dataset;
  readonly next: Dataset;
  readonly change: RecordChange | null;
}

/** Writes datasets and their versions, within the quotas. */
@injectable()
export class DatasetWrites {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly datasets: DatasetRepository,
    private readonly quotas: StorageQuotas,
    private readonly settings: ServiceSettings,
    private readonly authority: Authority,
  ) {}

  /** Repeats a change of the current version that loses against another one, also if its version was removed meanwhile. */
  retry<T extends object>(
    caller: AccountCaller,
    { projectId, datasetId, signal }: OfDataset & Pick<Change, 'signal'>,
    attempt: (before: Dataset) => Promise<T | false>,
  ): Promise<T> {
    return retryWrite(signal, async () => {
      const before = await this.workspace.dataset(caller, projectId, datasetId);
      try {
        return await attempt(before);
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        const now = await this.workspace.dataset(caller, projectId, datasetId);
        if (now.version === before.version) throw error;
        return false;
      }
    });
  }

  /**
   * Writes a new version and removes versions that are too old to be kept. Returns false if the write lost. Throws the
   * reason of an aborted signal: the records may have taken long to arrive.
   */
  async replace(by: Caller, { before, next, change, signal }: Replacement): Promise<boolean> {
    signal.throwIfAborted();
    const write = () => this.datasets.replace(before, next, change);
    // Whoever only removes records may do so beyond the quota.
    const isMore = change !== null && change.draft.count > 0;
    const replaced = await (isMore
      ? this.quotas.add(by, { workspaceBytes: changeBytes(change.draft) }, write)
      : write());
    const oldest = next.version - this.settings.datasetVersions + 1;
    // The change is stored. Versions that could not be removed are removed by a later change.
    if (replaced && oldest > 1) await this.datasets.prune(next.id, oldest).catch(() => undefined);
    return replaced;
  }

  /** Gives the draft to `work`. Gives the draft up if `work` fails or returns false. */
  async drafted<T>(draft: RecordDraft, work: (draft: RecordDraft) => Promise<T>): Promise<T> {
    let result: T | false = false;
    try {
      result = await work(draft);
      return result;
    } finally {
      if (result === false) await draft.discard().catch(() => undefined); // an abandoned draft is removed later
    }
  }

  /**
   * Stores a new dataset with the records of a draft. Throws NotFound, QuotaExceeded. Checks the permission of the caller
   * again, because the draft may have taken long.
   */
  add(by: Caller, dataset: Dataset, draft: RecordDraft): Promise<void> {
    return this.quotas.add(by, { workspaceBytes: changeBytes(draft) }, async () => {
      KeyScope.requireProject(await this.authority.confirm(by, permissions.editWorkspace), dataset.projectId);
      return this.datasets.add(dataset, draft);
    });
  }
}
