import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { changeBytes } from '../../domain/shared/storage-quota.js';
import { Dataset, type DatasetVersion, requireEditable } from '../../domain/workspace/dataset.js';
import {
  nameProblems,
  problemsWithoutRows,
  RecordReader,
  type SentDataset,
  type SentRecords,
} from '../../domain/workspace/dataset-import.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import { requireStarter, type Starter } from '../../domain/workspace/starter.js';
import { Audit } from '../audit/audit.service.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, type Page, ServiceSettings, type VersionPage } from '../shared/ports.js';
import { retryWrite } from '../shared/retry-write.js';
import { type CollectedContent, DatasetContents } from './dataset-content.js';
import {
  DatasetRepository,
  type DatasetVersionEntry,
  type InProjectFilter,
  type RecordChange,
  type RecordDraft,
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

interface Import extends InProject, SentDataset {
  readonly starterId: string;
}

/** Manages datasets. Repeats a write if the dataset changed meanwhile. */
@injectable()
export class DatasetService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly datasets: DatasetRepository,
    private readonly records: RecordRepository,
    private readonly pages: RecordPages,
    private readonly contents: DatasetContents,
    private readonly quotas: StorageQuotas,
    private readonly settings: ServiceSettings,
    private readonly starters: StarterCatalog,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Creates a dataset. Uses the starter's records if none are sent. Throws NotFound, InvalidRequest, QuotaExceeded. */
  async import(by: Caller | null, { projectId, starterId, ...sent }: Import): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    const read = await this.readSent(sent);
    const source = read
      ? { name: 'Untitled dataset', records: read }
      : starterRecords(requireStarter(await this.starters.find(starterId)).dataset);
    const draft = {
      id: this.ids.next('dst'),
      projectId: project.id,
      name: (sent.name as string | undefined) ?? source.name,
      createdBy: caller.accountId,
      createdAt: this.clock.now(),
    };
    return this.drafted(await this.records.draft(draft.id), async (records) => {
      const { content, first } = await this.contents.collect(source.records, records);
      const dataset = { ...Dataset.create(draft, content), contentSha256: content.contentSha256 };
      await this.add(caller, dataset, records);
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
    const dataset = await this.find(by, wanted);
    const records = await this.pages.first(current(dataset), memory);
    return { dataset: await this.pages.withDigest(current(dataset), dataset), records };
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
    const known = await this.workspace.dataset(caller, projectId, datasetId); // so that NotFound comes first
    if (sent.name === undefined && !sent.records) {
      throw new InvalidRequest([{ path: '', message: 'must have a new name, new records, or both' }]);
    }
    const own = await this.readSent(sent);
    const name = sent.name as string | undefined;
    const write = (collected: CollectedContent | null, change: RecordChange | null) =>
      retryWrite(signal, async () => {
        const before = await this.workspace.dataset(caller, projectId, datasetId);
        const content = collected?.content ?? null;
        const next = Dataset.update(before, expected, { name, content, by: caller.accountId, at: this.clock.now() });
        // The records are read before the write, because another call may remove the dataset after the write.
        const records = collected?.first ?? (await this.pages.first(current(before), memory));
        const dataset = await this.pages.withDigest(current(before), next);
        return (await this.replace(caller, before, dataset, change)) && { dataset, records };
      });
    if (!own) return write(null, null);
    Dataset.update(known, expected, { name, content: null, by: caller.accountId, at: this.clock.now() });
    return this.drafted(await this.records.draft(datasetId, known.version), async (draft) =>
      write(await this.contents.collect(own, draft), { draft }),
    );
  }

  /** Makes the dataset immutable. Throws NotFound, DatasetFrozen, DatasetInvalid, StaleVersion. */
  async freeze(
    by: Caller | null,
    { projectId, datasetId, expected, signal, memory }: OfDataset & Change & WithMemory,
  ): Promise<FullDataset> {
    const caller = authorize(by, permissions.editWorkspace);
    return retryWrite(signal, async () => {
      const before = await this.workspace.dataset(caller, projectId, datasetId);
      const next = Dataset.freeze(before, expected, this.clock.now());
      // The records are read before the write, because another call may remove the project after the write.
      const records = await this.pages.first(current(before), memory);
      const dataset = await this.pages.withDigest(current(before), next);
      const details = { version: dataset.version, project_id: projectId, content_sha256: dataset.contentSha256 };
      const frozen = await this.audit.perform({ by: caller, action: 'dataset.frozen', object: dataset, details }, () =>
        this.datasets.replace(before, dataset, null),
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
    const known = await this.workspace.dataset(caller, projectId, datasetId);
    const original = current(known);
    const fork = { id: this.ids.next('dst'), name, createdBy: caller.accountId, createdAt: this.clock.now() };
    Dataset.fork(known, fork); // throws if the name is invalid
    const records = await this.pages.first(original, memory);
    const source = await this.pages.withDigest(original, known);
    const dataset = { ...Dataset.fork(source, fork), contentSha256: source.contentSha256 };
    return this.drafted(await this.records.draft(fork.id), async (draft) => {
      for await (const entries of this.pages.outline(original)) await draft.copy(datasetId, entries);
      await this.add(caller, dataset, draft);
      return { dataset, records };
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
    const dataset = await this.find(by, wanted);
    const version = found('version', await this.datasets.version(dataset.id, wanted.version));
    const records = await this.pages.first(version, memory);
    return { version: await this.pages.withDigest(version, version), records };
  }

  /** Writes a new version and removes versions that are too old to be kept. Returns false if the write lost. */
  async replace(by: Caller, before: Dataset, next: Dataset, change: RecordChange | null): Promise<boolean> {
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

  /** Gives the draft to `work`, and gives it up if `work` fails. */
  async drafted<T>(draft: RecordDraft, work: (draft: RecordDraft) => Promise<T>): Promise<T> {
    try {
      return await work(draft);
    } catch (error) {
      await draft.discard().catch(() => undefined); // an abandoned draft is removed later
      throw error;
    }
  }

  private add(by: Caller, dataset: Dataset, draft: RecordDraft): Promise<void> {
    return this.quotas.add(by, { workspaceBytes: changeBytes(draft) }, () => this.datasets.add(dataset, draft));
  }

  /** Checks the name and the rows. Returns the records, or null if there are no rows. Throws InvalidRequest. */
  private async readSent({ name, records, map }: SentDataset): Promise<AsyncIterable<DatasetRecord[]> | null> {
    if (!records) {
      requireNone(problemsWithoutRows({ name, map }));
      return null;
    }
    const reader = new RecordReader(this.settings.datasetRecords, map, records.columns);
    for await (const rows of records.batches()) reader.check(rows);
    requireNone([...nameProblems(name), ...reader.problems(records)]);
    return readBy(reader, records);
  }
}

const current = ({ id, version }: Dataset) => ({ datasetId: id, version });

function requireNone(problems: ReturnType<typeof nameProblems>): void {
  if (problems.length > 0) throw new InvalidRequest(problems);
}

/** Yields the records of rows that the reader has checked. */
export async function* readBy(reader: RecordReader, sent: SentRecords): AsyncGenerator<DatasetRecord[]> {
  for await (const rows of sent.batches()) yield reader.read(rows);
}

const starterRecords = ({ name, records }: Starter['dataset']) => ({ name, records: [records] });
