import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { type Comparison, compareRecords } from '../../domain/workspace/dataset-comparison.js';
import { ProjectDatasets } from './project-datasets.js';

/** A version of a dataset. */
export interface Side {
  readonly datasetId: string;
  /** The current one where none is said. */
  readonly version?: number;
}

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly own: Side;
  /** What `own` is compared with. */
  readonly base: Side;
}

@injectable()
export class CompareDatasets {
  constructor(private readonly found: ProjectDatasets) {}

  /** What became of `base` in `own`. Throws NotFound. */
  async execute({
    by,
    projectId,
    own,
    base,
  }: Input): Promise<Comparison & { own: Required<Side>; base: Required<Side> }> {
    const caller = authorize(by, permissions.readWorkspace);
    const after = await this.side(caller, projectId, own);
    const before = await this.side(caller, projectId, base);
    const compared =
      before.contentSha256 === after.contentSha256
        ? { added: [], removed: [], changed: [], unchanged: after.recordCount }
        : compareRecords(await before.records(), await after.records());
    return { ...compared, own: after.side, base: before.side };
  }

  private async side(caller: AccountCaller, projectId: string, { datasetId, version }: Side) {
    const dataset = await this.found.dataset(caller, projectId, datasetId);
    const side = { datasetId, version: version ?? dataset.version };
    const { contentSha256, recordCount } = await this.found.version(dataset, side.version);
    return { side, contentSha256, recordCount, records: () => this.found.records(dataset, side.version) };
  }
}
