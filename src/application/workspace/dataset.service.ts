import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest, NotFound, StaleVersion, StorageUnavailable } from '../../domain/shared/errors.js';
import { Dataset, type DatasetVersion, requireEditable } from '../../domain/workspace/dataset.js';
import {
  nameProblems,
  problemsWithoutRows,
  RecordReader,
  type SentDataset,
  type SentRecords,
  tooManyRows,
} from '../../domain/workspace/dataset-import.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import { requireStarter, type Starter } from '../../domain/workspace/starter.js';
import { Audit } from '../audit/audit.service.js';
import { HeldMemory } from '../shared/held-memory.js';
import type { Reservation, WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, type Page, ServiceSettings, type VersionPage } from '../shared/ports.js';
import { retryWrite } from '../shared/retry-write.js';
import { type CollectedContent, DatasetContents } from './dataset-content.js';
import { DatasetWrites } from './dataset-writes.js';
import {
  DatasetRepository,
  type DatasetVersionEntry,
  type InProjectFilter,
  type RecordChange,
  RecordRepository,
  StarterCatalog,
} from './ports.js';
import { RecordPages } from './record-pages.js';
import { type Change, found, type InProject, type OfDataset, TeamWorkspace } from './team-workspace.js';

type WithDigest<T> = T & { readonly contentSha256: string };

/** A dataset with the first records of its current version. */
export interface FullDataset {
  readonly dataset: WithDigest<Dataset>;
  readonly records: readonly DatasetRecord[];
}

interface Import extends InProject, SentDataset, WithMemory, Pick<Change, 'signal'> {
  readonly starterId: string;
}

interface Fork extends OfDataset, WithMemory, Pick<Change, 'signal'> {
  readonly name?: string | undefined;
}

/** A version of a dataset. An absent `version` stands for the current version. */
export interface OfVersion extends OfDataset {
  readonly version?: number | undefined;
  /** The caller has read a part of the version before. */
  readonly isContinued?: boolean;
}

/** The current version is read again so many times if a change removes it meanwhile. */
const MOST_READS = 5;

/** Manages datasets. Repeats a write if the dataset changed meanwhile. */
@injectable()
export class DatasetService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly datasets: DatasetRepository,
    private readonly records: RecordRepository,
    private readonly pages: RecordPages,
    private readonly contents: DatasetContents,
    private readonly writes: DatasetWrites,
    private readonly settings: ServiceSettings,
    private readonly starters: StarterCatalog,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Creates a dataset. Uses the starter's records if none are sent. Throws NotFound, InvalidRequest, QuotaExceeded. */
  async import(by: Caller | null, { projectId, starterId, signal, memory, ...sent }: Import): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    const read = await this.readSent(sent, memory);
    const source = read
      ? { name: 'Untitled dataset', records: read }
      : this.starterRecords(requireStarter(await this.starters.find(starterId)).dataset);
    const draft = {
      id: this.ids.next('dst'),
      projectId: project.id,
      name: (sent.name as string | undefined) ?? source.name,
      createdBy: caller.accountId,
      createdAt: this.clock.now(),
    };
    return this.writes.drafted(await this.records.draft(draft.id), async (records) => {
      const { content, first } = await this.contents.collect(source.records, records, memory);
      const dataset = { ...Dataset.create(draft, content), contentSha256: content.contentSha256 };
      signal.throwIfAborted();
      await this.writes.add(caller, dataset, records);
      return { dataset, records: first };
    });
  }

  /** Returns the datasets of a project without their records, newest first. Throws NotFound. */
  async list(by: Caller | null, { projectId, q, page }: InProjectFilter & { page: Page }): Promise<Dataset[]> {
    const caller = authorize(by, permissions.readWorkspace);
    const project = await this.workspace.project(caller, projectId);
    return this.datasets.all({ projectId: project.id, q }, page);
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { memory, ...wanted }: OfDataset & WithMemory): Promise<FullDataset> {
    return this.atVersion(by, wanted, async (of, dataset) => {
      const records = await this.pages.first(of, memory);
      return { dataset: await this.pages.withDigest(of, dataset), records };
    });
  }

  /** Returns the dataset without its records. Throws NotFound. */
  async find(by: Caller | null, { projectId, datasetId }: OfDataset): Promise<Dataset> {
    return this.workspace.dataset(authorize(by, permissions.readWorkspace), projectId, datasetId);
  }

  /**
   * Gives a version and its dataset to `read`. Reads the current version again if a change removes it meanwhile. Throws
   * NotFound. Throws StaleVersion if a version was removed of which the caller has read a part.
   */
  async atVersion<T>(
    by: Caller | null,
    { isContinued = false, ...wanted }: OfVersion,
    read: (of: DatasetVersion, dataset: Dataset) => Promise<T>,
  ): Promise<T> {
    for (let left = MOST_READS; left > 0; left--) {
      const dataset = await this.find(by, wanted);
      const { version = dataset.version } = wanted;
      try {
        const isCurrent = version === dataset.version;
        const of = isCurrent ? Dataset.versionOf(dataset) : await this.datasets.version(dataset.id, version);
        return await read(found('version', of), dataset);
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        const now = await this.find(by, wanted);
        if (isContinued && version < now.version) throw new StaleVersion(now.version);
        if (wanted.version !== undefined || version === now.version) throw error;
      }
    }
    throw tooManyChanges();
  }

  /** Throws NotFound, InvalidRequest, DatasetFrozen, StaleVersion, QuotaExceeded. */
  async update(
    by: Caller | null,
    { projectId, datasetId, expected, signal, memory, ...sent }: OfDataset & Change & SentDataset & WithMemory,
  ): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    const known = await this.workspace.dataset(caller, projectId, datasetId); // so that NotFound comes first
    if (sent.name === undefined && !sent.records) {
      throw new InvalidRequest([{ path: '', message: 'must have a new name, new records, or both' }]);
    }
    const own = await this.readSent(sent, memory);
    const name = sent.name as string | undefined;
    const write = (collected: CollectedContent | null, change: RecordChange | null) =>
      this.writes.retry(caller, { projectId, datasetId, signal }, async (before) => {
        const content = collected?.content ?? null;
        const next = Dataset.update(before, expected, { name, content, by: caller.accountId, at: this.clock.now() });
        // The records are read before the write, because another call may remove the dataset after the write.
        const records = collected?.first ?? (await this.pages.first(current(before), memory));
        const dataset = await this.pages.withDigest(current(before), next);
        return (await this.writes.replace(caller, { before, next: dataset, change, signal })) && { dataset, records };
      });
    if (!own) return write(null, null);
    Dataset.update(known, expected, { name, content: null, by: caller.accountId, at: this.clock.now() });
    const stored = await this.records.draft(datasetId, known.version, new HeldMemory(memory));
    return this.writes.drafted(stored, async (draft) =>
      write(await this.contents.collect(own, draft, memory), { draft }),
    );
  }

  /** Makes the dataset immutable. Throws NotFound, DatasetFrozen, DatasetInvalid, StaleVersion. */
  async freeze(
    by: Caller | null,
    { projectId, datasetId, expected, signal, memory }: OfDataset & Change & WithMemory,
  ): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    return this.writes.retry(caller, { projectId, datasetId, signal }, async (before) => {
      const next = Dataset.freeze(before, expected, this.clock.now());
      // The records are read before the write, because another call may remove the project after the write.
      const records = await this.pages.first(current(before), memory);
      const dataset = await this.pages.withDigest(current(before), next);
      signal.throwIfAborted();
      const details = { version: dataset.version, project_id: projectId, content_sha256: dataset.contentSha256 };
      const frozen = await this.audit.perform({ by: caller, action: 'dataset.frozen', object: dataset, details }, () =>
        this.datasets.replace(before, dataset, null),
      );
      return frozen && { dataset, records };
    });
  }

  /** Creates an editable copy. Throws NotFound, InvalidRequest, QuotaExceeded. */
  async fork(by: Caller | null, { projectId, datasetId, name, signal, memory }: Fork): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    return this.atVersion(caller, { projectId, datasetId }, async (original, known) => {
      const fork = { id: this.ids.next('dst'), name, createdBy: caller.accountId, createdAt: this.clock.now() };
      Dataset.fork(known, fork); // throws if the name is invalid
      const records = await this.pages.first(original, memory);
      const source = await this.pages.withDigest(original, known);
      const dataset = { ...Dataset.fork(source, fork), contentSha256: source.contentSha256 };
      return this.writes.drafted(await this.records.draft(fork.id), async (draft) => {
        for await (const entries of this.pages.outline(original)) await draft.copy(datasetId, entries);
        signal.throwIfAborted();
        await this.writes.add(caller, dataset, draft);
        return { dataset, records };
      });
    });
  }

  /** Deletes an editable dataset with its versions. Throws NotFound, DatasetFrozen, StaleVersion. */
  async delete(by: Caller | null, { projectId, datasetId, expected, signal }: OfDataset & Change): Promise<void> {
    const caller = authorize(by, permissions.editWorkspace);
    await retryWrite(signal, async () => {
      const before = await this.workspace.dataset(caller, projectId, datasetId);
      requireEditable(before, expected);
      const details = { project_id: projectId };
      const act = { by: caller, action: 'dataset.deleted', object: before, details } as const;
      return this.audit.perform(act, () => this.datasets.remove(before));
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

  /** Returns a version with its first records. Throws NotFound. */
  async version(
    by: Caller | null,
    { memory, ...wanted }: OfDataset & WithMemory & { version: number },
  ): Promise<{ version: WithDigest<DatasetVersion>; records: readonly DatasetRecord[] }> {
    return this.atVersion(by, wanted, async (version) => {
      const records = await this.pages.first(version, memory);
      return { version: await this.pages.withDigest(version, version), records };
    });
  }

  /** Throws InvalidRequest if a dataset may not have so many records. */
  private starterRecords({ name, records }: Starter['dataset']) {
    requireNone(tooManyRows(records.length, this.settings.datasetRecords, 'starter_id'));
    return { name, records: [records] };
  }

  /** Checks the name and the rows. Returns the records, or null if there are no rows. Throws InvalidRequest. */
  private async readSent(
    { name, records, map }: SentDataset,
    memory: Reservation,
  ): Promise<AsyncIterable<DatasetRecord[]> | null> {
    if (!records) {
      requireNone(problemsWithoutRows({ name, map }));
      return null;
    }
    const reader = new RecordReader(this.settings.datasetRecords, map, records.columns);
    const held = new HeldMemory(memory);
    for await (const rows of records.batches()) {
      reader.check(rows);
      await held.reach(reader.bytes);
    }
    requireNone([...nameProblems(name), ...reader.problems(records)]);
    return readBy(reader, records);
  }
}

const current = ({ id, version }: Dataset) => ({ datasetId: id, version });

const tooManyChanges = () => new StorageUnavailable('too many changes of the same thing at once');

function requireNone(problems: ReturnType<typeof nameProblems>): void {
  if (problems.length > 0) throw new InvalidRequest(problems);
}

/** Yields the records of rows that the reader has checked. */
export async function* readBy(reader: RecordReader, sent: SentRecords): AsyncGenerator<DatasetRecord[]> {
  for await (const rows of sent.batches()) yield reader.read(rows);
}
