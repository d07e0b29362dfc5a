import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { recordsBytes } from '../../domain/shared/storage-quota.js';
import {
  canonicalRecords,
  Dataset,
  type DatasetContent,
  type DatasetRecord,
  type DatasetVersion,
  requireEditable,
  validate,
} from '../../domain/workspace/dataset.js';
import { type Comparison, compareRecords } from '../../domain/workspace/dataset-comparison.js';
import { readDataset, type SentDataset } from '../../domain/workspace/dataset-import.js';
import { requireStarter } from '../../domain/workspace/starter.js';
import { Audit } from '../audit/audit.service.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import type { Reservation, WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, type Page, ServiceSettings, UnitOfWork, type VersionPage } from '../shared/ports.js';
import { retryWrite } from '../shared/retry-write.js';
import {
  ContentHasher,
  DatasetRepository,
  type DatasetVersionEntry,
  type InProjectFilter,
  StarterCatalog,
} from './ports.js';
import { type Change, found, type InProject, type OfDataset, TeamWorkspace } from './team-workspace.js';

/** A dataset with the records of its current version. */
export interface FullDataset {
  readonly dataset: Dataset;
  readonly records: readonly DatasetRecord[];
}

/** A version of a dataset. An absent `version` means the current version. */
export interface DatasetAtVersion {
  readonly datasetId: string;
  readonly version?: number;
}

interface Import extends InProject, SentDataset {
  readonly starterId: string;
}

interface Compared extends InProject, WithMemory {
  readonly own: DatasetAtVersion;
  readonly base: DatasetAtVersion;
}

/** Names the records of a version. `bytes` is their length. */
type StoredRecords = Pick<DatasetVersion, 'datasetId' | 'version' | 'bytes'>;

/** The two compared versions, and the changes from `base` to `own`. */
export interface DatasetComparison extends Comparison {
  readonly own: Required<DatasetAtVersion>;
  readonly base: Required<DatasetAtVersion>;
}

/** Limits the JSON of all records. A smaller CSV file can exceed the limit, as each record repeats the field names. */
const MEBIBYTES = 16;

/** Manages datasets. Repeats a write if the dataset changed meanwhile. */
@injectable()
export class DatasetService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly unitOfWork: UnitOfWork,
    private readonly datasets: DatasetRepository,
    private readonly quotas: StorageQuotas,
    private readonly settings: ServiceSettings,
    private readonly starters: StarterCatalog,
    private readonly hasher: ContentHasher,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Creates a dataset. Uses the starter's records if none are sent. Throws NotFound, InvalidRequest, QuotaExceeded. */
  async import(by: Caller | null, { projectId, starterId, ...sent }: Import): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    const { name, records: own } = readDataset(sent, this.settings.datasetRecords);
    const source = own
      ? { name: 'Untitled dataset', records: own }
      : requireStarter(await this.starters.find(starterId)).dataset;
    const draft = {
      id: this.ids.next('dst'),
      projectId: project.id,
      name: name ?? source.name,
      createdBy: caller.accountId,
      createdAt: this.clock.now(),
    };
    const dataset = Dataset.create(draft, await this.content(source.records));
    await this.add(caller, dataset, source.records);
    return { dataset, records: source.records };
  }

  /** Returns the datasets of a project without their records, newest first. Throws NotFound. */
  async list(by: Caller | null, { projectId, q, page }: InProjectFilter & { page: Page }): Promise<Dataset[]> {
    const caller = authorize(by, permissions.readWorkspace);
    const project = await this.workspace.project(caller, projectId);
    return this.datasets.all({ projectId: project.id, q }, page);
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { memory, ...wanted }: OfDataset & WithMemory): Promise<FullDataset> {
    const dataset = await this.find(by, wanted);
    return { dataset, records: await this.records(dataset, memory) };
  }

  /** Returns the dataset without its records. Throws NotFound. */
  async find(by: Caller | null, { projectId, datasetId }: OfDataset): Promise<Dataset> {
    return this.workspace.dataset(authorize(by, permissions.readWorkspace), projectId, datasetId);
  }

  /** Throws NotFound, InvalidRequest, DatasetFrozen, StaleVersion, QuotaExceeded. */
  async update(
    by: Caller | null,
    { projectId, datasetId, expected, signal, memory, ...sent }: OfDataset & Change & SentDataset & WithMemory,
  ): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    await this.workspace.dataset(caller, projectId, datasetId); // so that NotFound comes before InvalidRequest
    if (sent.name === undefined && !sent.records) {
      throw new InvalidRequest([{ path: '', message: 'must have a new name, new records, or both' }]);
    }
    const { name, records: own } = readDataset(sent, this.settings.datasetRecords);
    const content = own && (await this.content(own));
    return retryWrite(signal, async () => {
      const current = await this.workspace.dataset(caller, projectId, datasetId);
      const next = Dataset.update(current, expected, { name, content, by: caller.accountId, at: this.clock.now() });
      // The records are read before the write, because another call may remove the dataset after the write.
      const records = own ?? (await this.records(current, memory));
      const replace = () => this.replace(current, next, own);
      const replaced = await (own
        ? this.quotas.add(caller, { workspaceBytes: recordsBytes(next) }, replace)
        : replace());
      return replaced && { dataset: next, records };
    });
  }

  /** Makes the dataset immutable. Throws NotFound, DatasetFrozen, DatasetInvalid, StaleVersion. */
  async freeze(
    by: Caller | null,
    { projectId, datasetId, expected, signal, memory }: OfDataset & Change & WithMemory,
  ): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    return retryWrite(signal, async () => {
      const current = await this.workspace.dataset(caller, projectId, datasetId);
      const dataset = Dataset.freeze(current, expected, this.clock.now());
      // The records are read before the write, because another call may remove the project after the write.
      const records = await this.records(current, memory);
      const details = { version: dataset.version, project_id: projectId, content_sha256: dataset.contentSha256 };
      const frozen = await this.audit.perform({ by: caller, action: 'dataset.frozen', object: dataset, details }, () =>
        this.datasets.replace(current, dataset, null),
      );
      return frozen && { dataset, records };
    });
  }

  /** Creates an editable copy. Throws NotFound, InvalidRequest, QuotaExceeded. */
  async fork(
    by: Caller | null,
    { projectId, datasetId, name, memory }: OfDataset & WithMemory & { name?: string | undefined },
  ): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    const original = await this.workspace.dataset(caller, projectId, datasetId);
    const draft = { id: this.ids.next('dst'), name, createdBy: caller.accountId, createdAt: this.clock.now() };
    const dataset = Dataset.fork(original, draft);
    const records = await this.records(original, memory);
    await this.add(caller, dataset, records);
    return { dataset, records };
  }

  /** Deletes an editable dataset with its versions. Throws NotFound, DatasetFrozen, StaleVersion. */
  async delete(by: Caller | null, { projectId, datasetId, expected, signal }: OfDataset & Change): Promise<void> {
    const caller = authorize(by, permissions.editWorkspace);
    await retryWrite(signal, async () => {
      const current = await this.workspace.dataset(caller, projectId, datasetId);
      requireEditable(current, expected);
      const details = { project_id: projectId };
      const act = { by: caller, action: 'dataset.deleted', object: current, details } as const;
      return this.audit.perform(act, () => this.datasets.remove(current));
    });
  }

  /** Returns the versions without their records, newest first. Throws NotFound. */
  async versions(
    by: Caller | null,
    { page, ...wanted }: OfDataset & { page: VersionPage },
  ): Promise<DatasetVersionEntry[]> {
    const dataset = await this.find(by, wanted);
    return this.datasets.versions(dataset.id, page);
  }

  /** Throws NotFound. */
  async version(
    by: Caller | null,
    { memory, ...wanted }: OfDataset & WithMemory & { version: number },
  ): Promise<{ version: DatasetVersion; records: readonly DatasetRecord[] }> {
    const dataset = await this.find(by, wanted);
    const version = found('version', await this.datasets.version(dataset.id, wanted.version));
    return { version, records: await this.recordsOf(version, memory) };
  }

  /** Compares two versions of one dataset or of two datasets of the project. Throws NotFound. */
  async compare(by: Caller | null, { projectId, own, base, memory }: Compared): Promise<DatasetComparison> {
    const after = await this.versionOf(by, { projectId, ...own });
    const before = await this.versionOf(by, { projectId, ...base });
    const same = { added: [], removed: [], changed: [], unchanged: after.recordCount };
    const comparison =
      before.contentSha256 === after.contentSha256 ? same : await this.difference(before, after, memory);
    return { ...comparison, own: atVersion(after), base: atVersion(before) };
  }

  private async difference(before: DatasetVersion, after: DatasetVersion, memory: Reservation): Promise<Comparison> {
    await memory.reserve(before.bytes, after.bytes);
    return compareRecords(await this.stored(before), await this.stored(after));
  }

  private async versionOf(by: Caller | null, wanted: InProject & DatasetAtVersion) {
    const dataset = await this.find(by, wanted);
    return found('version', await this.datasets.version(dataset.id, wanted.version ?? dataset.version));
  }

  private add(by: Caller, dataset: Dataset, records: readonly DatasetRecord[]): Promise<void> {
    const added = { workspaceBytes: recordsBytes(dataset) };
    return this.quotas.add(by, added, () => this.datasets.add(dataset, records));
  }

  /** Writes a new version and removes versions that are too old to be kept. */
  private replace(current: Dataset, next: Dataset, records: readonly DatasetRecord[] | null): Promise<boolean> {
    return this.unitOfWork.run(async () => {
      const replaced = await this.datasets.replace(current, next, records);
      const oldest = next.version - this.settings.datasetVersions + 1;
      if (replaced && oldest > 1) await this.datasets.prune(next.id, oldest);
      return replaced;
    });
  }

  private records({ id, version, bytes }: Dataset, memory: Reservation): Promise<readonly DatasetRecord[]> {
    return this.recordsOf({ datasetId: id, version, bytes }, memory);
  }

  /** Reserves memory and returns the records. Throws NotFound if the version was removed meanwhile. */
  private async recordsOf(version: StoredRecords, memory: Reservation): Promise<readonly DatasetRecord[]> {
    await memory.reserve(version.bytes);
    return this.stored(version);
  }

  /** Returns the records. Memory must be reserved before. Throws NotFound if the version was removed meanwhile. */
  private async stored({ datasetId, version }: StoredRecords): Promise<readonly DatasetRecord[]> {
    return found('version', await this.datasets.records(datasetId, version));
  }

  /** Throws InvalidRequest if the records exceed the limit. */
  private async content(records: readonly DatasetRecord[]): Promise<DatasetContent> {
    let bytes = 0;
    const pieces = limited(canonicalRecords(records), (length) => {
      bytes += length;
    });
    const contentSha256 = await this.hasher.hash(pieces);
    return { recordCount: records.length, contentSha256, bytes, validation: validate(records) };
  }
}

const atVersion = ({ datasetId, version }: DatasetVersion) => ({ datasetId, version });

/** Counts the bytes of each piece. Throws InvalidRequest beyond the limit. */
function* limited(pieces: Iterable<string>, count: (bytes: number) => void): Generator<string> {
  const utf8 = new TextEncoder();
  let left = MEBIBYTES * 1024 * 1024;
  for (const piece of pieces) {
    const { length } = utf8.encode(piece);
    count(length);
    left -= length;
    const message = `are over the limit of ${MEBIBYTES} MiB as JSON, with the names of the fields in each record`;
    if (left < 0) throw new InvalidRequest([{ path: 'records', message }]);
    yield piece;
  }
}
