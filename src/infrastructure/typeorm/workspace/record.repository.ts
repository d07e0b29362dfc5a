import { injectable } from 'inversify';
import type { HeldMemory } from '../../../application/shared/held-memory.js';
import type {
  EntryPage,
  MovedContent,
  RecordDraft,
  RecordEntry,
  RecordFilter,
  RecordPart,
  RecordRepository,
  RecordSpan,
} from '../../../application/workspace/ports.js';
import {
  type CanonicalRecord,
  canonicalRecord,
  canonicalText,
  type DatasetRecord,
  type RecordOrigin,
} from '../../../domain/workspace/dataset-record.js';
import { containing } from '../search.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { FINDINGS } from './dataset-tables.js';
import { OldContents } from './old-contents.js';
import { halfDigest, TypeOrmRecordDraft } from './record-draft.js';
import { RecordTidying } from './record-tidying.js';
import { type Chunk, VersionChunks } from './version-chunks.js';
import { VersionLists } from './version-lists.js';

/** Limits the records that one statement reads. */
const MOST_ENTRIES = 5_000;
/** Limits the records in which one statement searches for text. */
const MOST_SEARCHED = 2_000;
/** Limits their bytes. The last record may go beyond. */
const MOST_BYTES = 8 * 1024 * 1024;

const ENTRY = `number, record_id AS id, "group", bytes, findings, encode(digest, 'hex') AS digest`;

interface EntryRow {
  readonly number: string;
  readonly id: string;
  readonly group: string | null;
  readonly bytes: number;
  readonly findings: number;
  readonly digest: string;
}

const READ = `
  SELECT number, record_id AS id, "group", input, expected, fields, origin FROM dataset_records
   WHERE dataset_id = $1 AND number = ANY($2::bigint[])`;

/** Adds up the bytes of the records before each one, and of itself. */
const WITHIN = `
  SELECT wanted.at, record_id AS id, "group", input, expected, fields, origin, canonical, bytes,
         sum(bytes) OVER (ORDER BY wanted.at) AS total
    FROM unnest($2::bigint[]) WITH ORDINALITY AS wanted(number, at)
    JOIN dataset_records record ON record.dataset_id = $1 AND record.number = wanted.number`;

/** A record as it is stored. Without an origin, `origin` is null. */
interface RecordRow extends Omit<DatasetRecord, 'origin'> {
  readonly origin: RecordOrigin | null;
}

interface TextRow {
  readonly id: string;
  readonly group: string | null;
  readonly input: string;
  readonly expected: string;
  readonly fields: string;
  readonly isCanonical: boolean;
}

/** Counts the first records that have at most so many bytes, and the one after them. */
const FITTING = `
  SELECT count(*)::integer AS count FROM (
    SELECT sum(bytes) OVER (ORDER BY wanted.at) - bytes AS before
      FROM unnest($2::bigint[]) WITH ORDINALITY AS wanted(number, at)
      JOIN dataset_records record ON record.dataset_id = $1 AND record.number = wanted.number) one
   WHERE before < $3`;

const MATCHING = `
  SELECT number FROM dataset_records
   WHERE dataset_id = $1 AND number = ANY($2::bigint[])
     AND (NOT $3::boolean OR "group" IS NOT DISTINCT FROM $4)
     AND ($5::text IS NULL OR record_id ~ $5 OR "group" ~ $5 OR input::text ~ $6 OR expected::text ~ $6 OR fields::text ~ $6)`;

@injectable()
export class TypeOrmRecordRepository implements RecordRepository {
  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly lists: VersionLists,
    private readonly chunks: VersionChunks,
    private readonly old: OldContents,
    private readonly tidying: RecordTidying,
  ) {}

  async entries(datasetId: string, version: number, span: RecordSpan): Promise<readonly RecordEntry[] | null> {
    const list = await this.list(datasetId, version);
    if (!list) return null;
    const numbers = await this.chunks.numbers(datasetId, list, span);
    const places = numbers?.map((number, index) => [number, span.offset + index] as const);
    if (!places) return null;
    const entries = await this.entriesOf(datasetId, places);
    return entries.length === places.length ? entries : null;
  }

  async records(datasetId: string, version: number, part: RecordPart): Promise<readonly DatasetRecord[] | null> {
    const rows = await this.part<RecordRow>(datasetId, version, part, 'input, expected, fields, origin');
    return rows?.map(recordOf) ?? null;
  }

  async canonical(datasetId: string, version: number, part: RecordPart): Promise<readonly string[] | null> {
    const columns = 'input::text, expected::text, fields::text, canonical AS "isCanonical"';
    const rows = await this.part<TextRow>(datasetId, version, part, columns);
    return rows?.map(canonicalOf) ?? null;
  }

  async matching(
    datasetId: string,
    version: number,
    { offset, count, group, q }: RecordSpan & RecordFilter,
  ): Promise<EntryPage | null> {
    const list = await this.list(datasetId, version);
    if (!list) return null;
    const total = list.reduce((sum, { size }) => sum + size, 0);
    const inJson = q === undefined ? null : containing(JSON.stringify(q).slice(1, -1));
    const filter = [group !== undefined, group ?? null, q === undefined ? null : containing(q), inJson];
    const found: (readonly [number, number])[] = [];
    let at = offset;
    while (at < total && found.length < count) {
      const numbers = await this.searched(datasetId, list, at);
      if (!numbers) return null;
      const rows = await this.unitOfWork.query<{ number: string }>(MATCHING, [datasetId, numbers, ...filter]);
      const matching = new Set(rows.map(({ number }) => Number(number)));
      const start = at;
      for (const [index, number] of numbers.entries()) {
        if (found.length === count) break;
        at = start + index + 1;
        if (matching.has(number)) found.push([number, start + index]);
      }
    }
    return { entries: await this.entriesOf(datasetId, found), next: at < total ? at : null };
  }

  async read(datasetId: string, entries: readonly Pick<RecordEntry, 'number'>[]): Promise<readonly DatasetRecord[]> {
    if (entries.length === 0) return [];
    const numbers = entries.map(({ number }) => number);
    const rows = await this.unitOfWork.query<RecordRow & { number: string }>(READ, [datasetId, numbers]);
    const byNumber = new Map(rows.map((row) => [Number(row.number), recordOf(row)]));
    return numbers.flatMap((number) => byNumber.get(number) ?? []);
  }

  async withIds(datasetId: string, version: number, ids: readonly string[]): Promise<readonly RecordEntry[] | null> {
    const list = await this.list(datasetId, version);
    if (!list) return null;
    const known = 'SELECT number FROM dataset_records WHERE dataset_id = $1 AND record_id = ANY($2::text[])';
    const rows = await this.unitOfWork.query<{ number: string }>(known, [datasetId, ids]);
    const numbers = rows.map(({ number }) => Number(number));
    const offsets = [...(await this.chunks.offsets(datasetId, list, numbers))].sort(
      ([, one], [, other]) => one - other,
    );
    return this.entriesOf(datasetId, offsets);
  }

  async knownDigests(datasetId: string, version: number, digests: readonly string[]): Promise<ReadonlySet<string>> {
    const list = await this.list(datasetId, version);
    const rows = await this.unitOfWork.query<{ number: string; digest: string }>(
      `SELECT number, encode(digest, 'hex') AS digest FROM dataset_records
        WHERE dataset_id = $1 AND digest = ANY (SELECT decode(one, 'hex') FROM unnest($2::text[]) one)`,
      [datasetId, digests],
    );
    const numbers = rows.map(({ number }) => Number(number));
    const offsets = await this.chunks.offsets(datasetId, list ?? [], numbers);
    return new Set(rows.filter(({ number }) => offsets.has(Number(number))).map(({ digest }) => digest));
  }

  digestOf({ content }: Pick<CanonicalRecord, 'content'>): string {
    return halfDigest(content);
  }

  async draft(datasetId: string, base?: number, held?: HeldMemory): Promise<RecordDraft> {
    const list = base === undefined ? null : await this.list(datasetId, base);
    const stored = list ? await this.lists.storedRecords(datasetId, list, held) : [];
    return TypeOrmRecordDraft.begin(this.unitOfWork, datasetId, stored);
  }

  tidy(): Promise<boolean> {
    return this.tidying.step();
  }

  moveOne(last: string): Promise<MovedContent | null> {
    return this.old.moveOne(last);
  }

  /** Reads columns of the records of a part. Returns null if the version or one of the records is gone. */
  private async part<Row>(datasetId: string, version: number, part: RecordPart, columns: string) {
    const list = await this.list(datasetId, version);
    if (!list) return null;
    const numbers = await this.chunks.numbers(datasetId, list, part);
    const statement = `SELECT at, id, "group", ${columns} FROM (${WITHIN}) one WHERE total - bytes <= $3 ORDER BY at`;
    if (!numbers || numbers.length === 0) return numbers && [];
    const rows = await this.unitOfWork.query<Row & { at: string }>(statement, [datasetId, numbers, part.bytes]);
    const isWhole = rows.length > 0 && rows.every(({ at }, index) => Number(at) === index + 1);
    return isWhole ? rows : null;
  }

  /** Returns the records from an offset on that one statement may search, or null if one of them is gone. */
  private async searched(datasetId: string, list: readonly Chunk[], offset: number): Promise<number[] | null> {
    const numbers = await this.chunks.numbers(datasetId, list, { offset, count: MOST_SEARCHED });
    if (!numbers) return null;
    const [fitting] = await this.unitOfWork.query<{ count: number }>(FITTING, [datasetId, numbers, MOST_BYTES]);
    return fitting && fitting.count > 0 ? numbers.slice(0, fitting.count) : null;
  }

  /** Returns the chunks of a version, or null if the dataset does not have it. */
  private async list(datasetId: string, version: number): Promise<readonly Chunk[] | null> {
    return this.old.moved(datasetId, version, () => this.lists.find(datasetId, version));
  }

  private async entriesOf(
    datasetId: string,
    places: readonly (readonly [number: number, offset: number])[],
  ): Promise<RecordEntry[]> {
    const rows = new Map<number, EntryRow>();
    const statement = `SELECT ${ENTRY} FROM dataset_records WHERE dataset_id = $1 AND number = ANY($2::bigint[])`;
    for (let at = 0; at < places.length; at += MOST_ENTRIES) {
      const numbers = places.slice(at, at + MOST_ENTRIES).map(([number]) => number);
      for (const row of await this.unitOfWork.query<EntryRow>(statement, [datasetId, numbers]))
        rows.set(Number(row.number), row);
    }
    return places.flatMap(([number, offset]) => {
      const row = rows.get(number);
      return row ? [entryOf(row, number, offset)] : [];
    });
  }
}

const recordOf = ({ id, group, input, expected, fields, origin }: RecordRow): DatasetRecord => ({
  ...{ id, group, input, expected, fields },
  ...(origin && { origin }),
});

function canonicalOf({ id, group, isCanonical, ...texts }: TextRow): string {
  const { input, expected, fields } = texts;
  if (isCanonical)
    return canonicalText({ id: JSON.stringify(id), group: JSON.stringify(group), input, expected, fields });
  const parsed = { input: JSON.parse(input), expected: JSON.parse(expected), fields: JSON.parse(fields) };
  return canonicalRecord({ id, group, ...parsed }).text;
}

const entryOf = ({ id, group, bytes, findings, digest }: EntryRow, number: number, offset: number): RecordEntry => ({
  number,
  offset,
  id,
  group,
  bytes: bytes - 1,
  digest,
  emptyInput: (findings & FINDINGS.emptyInput) !== 0,
  emptyExpected: (findings & FINDINGS.emptyExpected) !== 0,
});
