import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import { Dataset, requireEditable } from '../../domain/workspace/dataset.js';
import { RecordReader, readRecords, type SentRecords } from '../../domain/workspace/dataset-import.js';
import { canonicalRecord, type DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { FindingCode } from '../../domain/workspace/dataset-validation.js';
import { type Json, unstorable } from '../../domain/workspace/json.js';
import { joined } from '../shared/joined.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, ServiceSettings } from '../shared/ports.js';
import { DatasetService, type OfVersion } from './dataset.service.js';
import { DatasetWrites } from './dataset-writes.js';
import { type RecordFilter, RecordRepository } from './ports.js';
import { RecordEdit } from './record-edit.js';
import { RecordPages, type RecordsPage, type VersionOf } from './record-pages.js';
import { type Change, found, type OfDataset, TeamWorkspace } from './team-workspace.js';

interface ListedRecords extends OfVersion, WithMemory, RecordFilter {
  /** Selects the records with this finding. */
  readonly finding?: FindingCode | undefined;
  readonly page: { readonly offset: number; readonly limit: number };
}

/** The records of a version on their way into a file. */
interface Export {
  readonly of: VersionOf;
  readonly name: string;
  readonly records: AsyncIterable<readonly DatasetRecord[]>;
  readonly fields: readonly string[];
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
    private readonly writes: DatasetWrites,
    private readonly workspace: TeamWorkspace,
    private readonly stored: RecordRepository,
    private readonly pages: RecordPages,
    private readonly edit: RecordEdit,
    private readonly settings: ServiceSettings,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns a page of the records of a version. Throws NotFound. Throws StaleVersion if the version of a later page was
   * removed.
   */
  async list(by: Caller | null, { finding, page, memory, group, q, ...wanted }: ListedRecords): Promise<RecordList> {
    const span = { offset: page.offset, count: page.limit, group, q };
    return this.service.atVersion(by, { ...wanted, isContinued: page.offset > 0 }, async ({ datasetId, version }) => {
      const of = { datasetId, version };
      const listed = finding
        ? await this.withFinding(of, finding, span, memory)
        : await this.pages.page(of, span, memory);
      return { ...of, ...listed };
    });
  }

  /**
   * Returns all records of a version, in parts. `fields` are the names of all their fields, if they are wanted. Throws
   * NotFound, InvalidRequest.
   */
  async export(by: Caller | null, { withFields, ...wanted }: OfVersion & { withFields: boolean }): Promise<Export> {
    return this.service.atVersion(by, wanted, async ({ datasetId, version }, { name }) => {
      const of = { datasetId, version };
      const fields = withFields ? await this.fieldsOf(of) : [];
      const records = this.pages.all(of);
      // The first part is read before the file begins: if the version is removed until then, the current one is exported.
      return { of, name, records: joined(await records.next(), records), fields };
    });
  }

  /**
   * Adds records at the end. Leaves out records whose content the dataset has already. Throws NotFound, InvalidRequest,
   * DatasetFrozen, StaleVersion, QuotaExceeded.
   */
  async append(
    by: Caller | null,
    { projectId, datasetId, expected, signal, memory, records: sent, distinctIds }: Appended,
  ): Promise<Appendix> {
    const caller = authorize(by, permissions.editWorkspace);
    await this.workspace.dataset(caller, projectId, datasetId); // so that NotFound comes before InvalidRequest
    const reader = new RecordReader(this.settings.datasetRecords);
    for await (const rows of sent.batches()) reader.check(rows);
    const problems = reader.problems(sent);
    if (problems.length > 0) throw new InvalidRequest(problems);
    return this.writes.retry(caller, { projectId, datasetId, signal }, async (before) => {
      await memory.reserveBytes(0); // a repeated attempt begins anew
      requireEditable(before, expected);
      return this.writes.drafted(await this.stored.draft(datasetId), async (draft) => {
        const added = await this.edit.add(before, draft, { sent, distinctIds, memory });
        if (added.ids.length === 0) return { dataset: before, ...added };
        const instead = { offset: before.recordCount, count: 0 };
        const { records, bytes } = added;
        const content = await this.edit.content(before, { span: instead, records, bytes, memory });
        const next = Dataset.update(before, expected, { content, by: caller.accountId, at: this.clock.now() });
        const written = await this.writes.replace(caller, { before, next, change: { draft, instead }, signal });
        return written && { dataset: next, ...added };
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
    return this.writes.retry(caller, { projectId, datasetId, signal }, async (before) => {
      const entry = await this.entry(before, recordId);
      const [stored] = await this.pages.read({ datasetId, version: before.version }, [entry], memory);
      const record = changed(found('record', stored ?? null), sent);
      requireEditable(before, expected);
      return this.writes.drafted(await this.stored.draft(datasetId), async (draft) => {
        const canonical = canonicalRecord(record);
        await draft.add([canonical]);
        const instead = { offset: entry.offset, count: 1 };
        const bytes = this.edit.bytesOf(canonical) - entry.bytes;
        const content = await this.edit.content(before, { span: instead, records: [record], bytes, memory });
        const next = Dataset.update(before, expected, { content, by: caller.accountId, at: this.clock.now() });
        const written = await this.writes.replace(caller, { before, next, change: { draft, instead }, signal });
        return written && { dataset: next, record };
      });
    });
  }

  /** Throws NotFound, DatasetFrozen, StaleVersion. */
  async remove(
    by: Caller | null,
    { projectId, datasetId, recordId, expected, signal, memory }: OfRecord & Change & WithMemory,
  ): Promise<Dataset> {
    const caller = authorize(by, permissions.editWorkspace);
    return this.writes.retry(caller, { projectId, datasetId, signal }, async (before) => {
      await memory.reserveBytes(0);
      const entry = await this.entry(before, recordId);
      requireEditable(before, expected);
      const instead = { offset: entry.offset, count: 1 };
      const content = await this.edit.content(before, { span: instead, records: [], bytes: -entry.bytes, memory });
      const next = Dataset.update(before, expected, { content, by: caller.accountId, at: this.clock.now() });
      const draft = await this.stored.draft(datasetId);
      return (await this.writes.replace(caller, { before, next, change: { draft, instead }, signal })) && next;
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

  /** Reads all entries before the page as well, because a repeated id is found only with them. */
  private async withFinding(
    of: VersionOf,
    code: FindingCode,
    wanted: { offset: number; count: number } & RecordFilter,
    memory: WithMemory['memory'],
  ): Promise<RecordsPage> {
    const entries = await this.edit.entriesWith(of, code, { ...wanted, memory });
    const { count } = wanted;
    return this.pages.pageOf(of, entries.slice(0, count), entries[count]?.offset ?? null, memory);
  }
}

/** Returns the record with the sent parts. Throws InvalidRequest if they do not make a record. */
function changed(record: DatasetRecord, sent: SentRecord): DatasetRecord {
  if (Object.values(sent).every((part) => part === undefined))
    throw new InvalidRequest([{ path: '', message: 'must have one or more of id, group, input, expected and fields' }]);
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
