import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import { Dataset, requireEditable } from '../../domain/workspace/dataset.js';
import { RecordReader, readRecords, type SentRecords } from '../../domain/workspace/dataset-import.js';
import { canonicalRecord, type DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { FindingCode } from '../../domain/workspace/dataset-validation.js';
import { type Json, unstorable } from '../../domain/workspace/json.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, ServiceSettings } from '../shared/ports.js';
import { retryWrite } from '../shared/retry-write.js';
import { DatasetService } from './dataset.service.js';
import { DatasetRepository, type RecordFilter, RecordRepository } from './ports.js';
import { RecordEdit } from './record-edit.js';
import { RecordPages, type RecordsPage, type VersionOf } from './record-pages.js';
import { type Change, found, type OfDataset, TeamWorkspace } from './team-workspace.js';

interface ListedRecords extends OfDataset, WithMemory, RecordFilter {
  /** Absent: the current version. */
  readonly version?: number | undefined;
  /** Selects the records with this finding. */
  readonly finding?: FindingCode | undefined;
  readonly page: { readonly offset: number; readonly limit: number };
}

export interface RecordList extends RecordsPage, VersionOf {}

interface OfRecord extends OfDataset {
  readonly recordId: string;
}

interface Appended extends OfDataset, Change, WithMemory {
  readonly records: SentRecords;
  /** A record with an id that is taken gets this id with a number. */
  readonly distinctIds?: boolean;
}

/** The result of an append. */
export interface Appendix {
  readonly dataset: Dataset;
  /** The ids of the new records. */
  readonly ids: readonly string[];
  /** The number of records that were left out, because the dataset has their content. */
  readonly duplicates: number;
}

/** The parts of a record that a caller may change. */
export type SentRecord = Readonly<Partial<Record<keyof DatasetRecord, Json>>>;

export interface ChangedRecord {
  readonly dataset: Dataset;
  readonly record: DatasetRecord;
}

/** The fields of a table. Each record may have other fields, so they could be too many for a row. */
const MOST_COLUMNS = 1_000;

/** Reads and changes single records of datasets. A change makes a new version of the dataset. */
@injectable()
export class DatasetRecordsService {
  constructor(
    private readonly service: DatasetService,
    private readonly workspace: TeamWorkspace,
    private readonly datasets: DatasetRepository,
    private readonly stored: RecordRepository,
    private readonly pages: RecordPages,
    private readonly edit: RecordEdit,
    private readonly settings: ServiceSettings,
    private readonly clock: Clock,
  ) {}

  /** Returns a page of the records of a version. Throws NotFound. */
  async list(by: Caller | null, { finding, page, memory, group, q, ...wanted }: ListedRecords): Promise<RecordList> {
    const of = await this.versionOf(by, wanted);
    const span = { offset: page.offset, count: page.limit };
    const listed = finding
      ? await this.withFinding(of, finding, { ...span, group, q }, memory)
      : await this.pages.page(of, { ...span, group, q }, memory);
    return { ...of, ...listed };
  }

  /**
   * Returns all records of a version, in parts. `fields` returns the names of all their fields. Throws NotFound, and
   * `fields` InvalidRequest.
   */
  async export(
    by: Caller | null,
    wanted: OfDataset & { version?: number | undefined },
  ): Promise<{
    of: VersionOf;
    name: string;
    records: AsyncIterable<readonly DatasetRecord[]>;
    fields: () => Promise<string[]>;
  }> {
    const { name } = await this.service.find(by, wanted);
    const of = await this.versionOf(by, wanted);
    return { of, name, records: this.pages.all(of), fields: () => this.fieldsOf(of) };
  }

  /**
   * Adds records at the end. Leaves out records whose content the dataset has already. Throws NotFound, InvalidRequest,
   * DatasetFrozen, StaleVersion, QuotaExceeded.
   */
  async append(
    by: Caller | null,
    { projectId, datasetId, expected, signal, records: sent, distinctIds }: Appended,
  ): Promise<Appendix> {
    const caller = authorize(by, permissions.editWorkspace);
    await this.workspace.dataset(caller, projectId, datasetId); // so that NotFound comes before InvalidRequest
    const reader = new RecordReader(this.settings.datasetRecords);
    for await (const rows of sent.batches()) reader.check(rows);
    const problems = reader.problems(sent);
    if (problems.length > 0) throw new InvalidRequest(problems);
    return retryWrite(signal, async () => {
      const before = await this.workspace.dataset(caller, projectId, datasetId);
      requireEditable(before, expected);
      return this.service.drafted(await this.stored.draft(datasetId), async (draft) => {
        const added = await this.edit.add(before, draft, sent, { distinctIds });
        if (added.ids.length === 0) return { dataset: before, ...added };
        const span = { offset: before.recordCount, count: 0 };
        const content = await this.edit.content(before, span, added.outlines, added.bytes);
        const dataset = Dataset.update(before, expected, { content, by: caller.accountId, at: this.clock.now() });
        const written = await this.service.replace(caller, before, dataset, { draft, instead: span });
        if (!written) await draft.discard();
        return written && { dataset, ...added };
      });
    });
  }

  /** Throws NotFound, InvalidRequest, DatasetFrozen, StaleVersion, QuotaExceeded. */
  async change(
    by: Caller | null,
    {
      projectId,
      datasetId,
      recordId,
      expected,
      signal,
      memory,
      sent,
    }: OfRecord & Change & WithMemory & { sent: SentRecord },
  ): Promise<ChangedRecord> {
    const caller = authorize(by, permissions.editWorkspace);
    return retryWrite(signal, async () => {
      const before = await this.workspace.dataset(caller, projectId, datasetId);
      const entry = await this.entry(before, recordId);
      const [record] = await this.pages.read({ datasetId, version: before.version }, [entry], memory);
      const next = changed(found('record', record ?? null), sent);
      requireEditable(before, expected);
      return this.service.drafted(await this.stored.draft(datasetId), async (draft) => {
        const canonical = canonicalRecord(next);
        await draft.add([canonical]);
        const span = { offset: entry.offset, count: 1 };
        const bytes = this.edit.bytesOf(canonical) - entry.bytes;
        const content = await this.edit.content(before, span, [next], bytes);
        const dataset = Dataset.update(before, expected, { content, by: caller.accountId, at: this.clock.now() });
        const written = await this.service.replace(caller, before, dataset, { draft, instead: span });
        return written && { dataset, record: next };
      });
    });
  }

  /** Throws NotFound, DatasetFrozen, StaleVersion. */
  async remove(
    by: Caller | null,
    { projectId, datasetId, recordId, expected, signal }: OfRecord & Change,
  ): Promise<Dataset> {
    const caller = authorize(by, permissions.editWorkspace);
    return retryWrite(signal, async () => {
      const before = await this.workspace.dataset(caller, projectId, datasetId);
      const entry = await this.entry(before, recordId);
      requireEditable(before, expected);
      const span = { offset: entry.offset, count: 1 };
      const content = await this.edit.content(before, span, [], -entry.bytes);
      const dataset = Dataset.update(before, expected, { content, by: caller.accountId, at: this.clock.now() });
      const draft = await this.stored.draft(datasetId);
      return (await this.service.replace(caller, before, dataset, { draft, instead: span })) && dataset;
    });
  }

  /** Returns the first record with the id. Throws NotFound. */
  private async entry({ id, version }: Dataset, recordId: string) {
    const [entry] = unstorable(recordId) ? [] : found('version', await this.stored.withIds(id, version, [recordId]));
    if (!entry) throw new NotFound('record');
    return entry;
  }

  private async fieldsOf(of: VersionOf): Promise<string[]> {
    const names = new Set<string>();
    for await (const records of this.pages.all(of)) {
      for (const { fields } of records) for (const name of Object.keys(fields)) names.add(name);
      if (names.size <= MOST_COLUMNS) continue;
      const message = `cannot be csv, because the records have more than ${MOST_COLUMNS} different fields: use jsonl`;
      throw new InvalidRequest([{ path: 'format', message }]);
    }
    return [...names];
  }

  private async versionOf(by: Caller | null, wanted: OfDataset & { version?: number | undefined }): Promise<VersionOf> {
    const dataset = await this.service.find(by, wanted);
    const { version = dataset.version } = wanted;
    if (version !== dataset.version) found('version', await this.datasets.version(dataset.id, version));
    return { datasetId: dataset.id, version };
  }

  /** Reads all entries before the page as well, because a repeated id is found only with them. */
  private async withFinding(
    of: VersionOf,
    code: FindingCode,
    wanted: { offset: number; count: number } & RecordFilter,
    memory: WithMemory['memory'],
  ): Promise<RecordsPage> {
    const entries = await this.edit.entriesWith(of, code, wanted);
    const { count } = wanted;
    return this.pages.pageOf(of, entries.slice(0, count), entries[count]?.offset ?? null, memory);
  }
}

/** Returns the record with the sent parts. Throws InvalidRequest if they do not make a record. */
function changed(record: DatasetRecord, sent: SentRecord): DatasetRecord {
  const { records, problems } = readRecords([{ ...record, ...sent } as unknown as Json], 1);
  if (problems.length > 0) {
    const ofRecord = problems.map(({ path, message }) => ({
      path: path.replace(/^records\.0\.?/, ''),
      message: message.replace(/^row 1: /, ''),
    }));
    throw new InvalidRequest(ofRecord);
  }
  const [next] = records as [DatasetRecord];
  // A record without an id keeps its own.
  return sent.id === undefined || typeof sent.id !== 'string' || sent.id.trim() === ''
    ? { ...next, id: record.id }
    : next;
}
