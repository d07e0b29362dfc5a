import { createHash } from 'node:crypto';
import type { RecordDraft, RecordEntry } from '../../../application/workspace/ports.js';
import { NotFound, StorageUnavailable } from '../../../domain/shared/errors.js';
import { type CanonicalRecord, canonicalText, type DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import { outlineOf } from '../../../domain/workspace/dataset-validation.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { FINDINGS } from './dataset-tables.js';
import { Block } from './version-chunks.js';

/** Limits the rows and the text of one statement. A draft with less is stored only with its dataset. */
const MOST_ROWS = 1_000;
const MOST_TEXT = 256 * 1024;

/** A draft that is older was abandoned. */
const KEPT = '6 hours';

/** Returns the first half of a SHA-256 in hexadecimal digits. */
export const halfDigest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

const INSERT = `
  INSERT INTO dataset_records
    (dataset_id, number, record_id, "group", input, expected, fields, origin, bytes, digest, text_digest, findings, canonical)
  SELECT $1, number, id, "group", coalesce(input, 'null'), coalesce(expected, 'null'), fields, origin, bytes,
         decode(digest, 'hex'), decode("textDigest", 'hex'), findings, canonical
    FROM json_to_recordset($2::json) AS one(number bigint, id text, "group" text, input json, expected json, fields json,
         origin json, bytes integer, digest text, "textDigest" text, findings smallint, canonical boolean)`;

const COPY = `
  WITH copied AS (
    INSERT INTO dataset_records
      (dataset_id, number, record_id, "group", input, expected, fields, origin, bytes, digest, text_digest, findings,
       canonical)
    SELECT $1, target.number, record_id, "group", input, expected, fields, origin, bytes, digest, text_digest, findings,
           canonical
      FROM unnest($3::bigint[], $4::bigint[]) AS target(source, number)
      JOIN dataset_records original ON original.dataset_id = $2 AND original.number = target.source
    RETURNING bytes)
  SELECT count(*)::integer AS count, coalesce(sum(bytes), 0)::integer AS bytes FROM copied`;

const STAGE = `
  INSERT INTO dataset_leftovers (dataset_id, first_number, last_number, due_at)
  VALUES ($1, $2, $3, now() + interval '${KEPT}') RETURNING id`;

/** Returns the texts of the values of a record as they were sent, and what tells two records apart. */
function textsOf({ id, group, input, expected, fields }: DatasetRecord) {
  const texts = { input: JSON.stringify(input), expected: JSON.stringify(expected), fields: JSON.stringify(fields) };
  const textDigest = halfDigest([JSON.stringify(group), texts.input, texts.expected, texts.fields].join('\n'));
  return { ...texts, textDigest, key: keyOf(id, textDigest) };
}

/** Two records of a dataset with the same key are the same. */
const keyOf = (id: string, textDigest: string) => textDigest + id;

export class TypeOrmRecordDraft implements RecordDraft {
  /** The numbers of the records in their order. */
  readonly numbers: number[] = [];
  bytes = 0;
  private rows: string[] = [];
  private text = 0;
  private stagedId: string | null = null;

  private constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    readonly datasetId: string,
    readonly block: Block,
    /** The numbers of stored records that the draft may take, by their keys. */
    private readonly stored: Map<string, number | number[]>,
  ) {}

  /** `base` lists the stored records that the draft takes instead of equal new ones. */
  static async begin(
    unitOfWork: TypeOrmUnitOfWork,
    datasetId: string,
    base: Iterable<{ readonly number: number; readonly id: string; readonly textDigest: string }> = [],
  ): Promise<TypeOrmRecordDraft> {
    const [row] = await unitOfWork.query<{ number: string }>("SELECT nextval('dataset_blocks') AS number");
    const stored = new Map<string, number | number[]>();
    for (const { number, id, textDigest } of base) {
      const key = keyOf(id, textDigest);
      const same = stored.get(key);
      if (same === undefined) stored.set(key, number);
      else if (typeof same === 'number') stored.set(key, [same, number]);
      else same.push(number);
    }
    return new TypeOrmRecordDraft(unitOfWork, datasetId, new Block(Number(row?.number)), stored);
  }

  get count(): number {
    return this.numbers.length;
  }

  async add(records: readonly CanonicalRecord[]): Promise<void> {
    for (const record of records) {
      const { key, ...texts } = textsOf(record.record);
      const kept = this.takeStored(key);
      if (kept === undefined) this.append(record, texts);
      else this.numbers.push(kept);
      if (this.rows.length >= MOST_ROWS || this.text >= MOST_TEXT) await this.flush();
    }
  }

  async copy(source: string, records: readonly Pick<RecordEntry, 'number' | 'bytes'>[]): Promise<void> {
    await this.stage();
    for (let at = 0; at < records.length; ) {
      const [part, length] = this.part(records, at);
      const numbers = part.map(() => this.block.record());
      const values = [this.datasetId, source, part.map(({ number }) => number), numbers];
      const [copied] = await this.unitOfWork.query<{ count: number; bytes: number }>(COPY, values);
      if (copied?.count !== part.length) throw new NotFound('version');
      this.numbers.push(...numbers);
      this.bytes += copied.bytes;
      at += length;
    }
  }

  async discard(): Promise<void> {
    this.rows = [];
    if (this.stagedId === null) return;
    // The row is gone if a dataset has taken the draft.
    await this.unitOfWork.query('UPDATE dataset_leftovers SET due_at = now() WHERE id = $1', [this.stagedId]);
  }

  /** Stores what is not stored yet, in the unit of work that takes the draft. The unit may be repeated. */
  async finish(): Promise<void> {
    if (this.rows.length > 0) await this.insert();
    if (this.stagedId === null) return;
    const taken = 'DELETE FROM dataset_leftovers WHERE id = $1 AND due_at > now() RETURNING id';
    const rows = await this.unitOfWork.query(taken, [this.stagedId]);
    if (rows.length === 0) throw new StorageUnavailable('the records took too long to arrive');
  }

  /** Returns the number of a stored record with this key, each once. */
  private takeStored(key: string): number | undefined {
    const same = this.stored.get(key);
    if (typeof same !== 'number') return same?.shift();
    this.stored.delete(key);
    return same;
  }

  private append({ record, text, content }: CanonicalRecord, texts: Omit<ReturnType<typeof textsOf>, 'key'>): void {
    const number = this.block.record();
    const { emptyInput, emptyExpected } = outlineOf(record);
    const findings = (emptyInput ? FINDINGS.emptyInput : 0) + (emptyExpected ? FINDINGS.emptyExpected : 0);
    const bytes = Buffer.byteLength(text) + 1;
    const { input, expected, fields, textDigest } = texts;
    const { id, group, origin } = record;
    const own = { expected, fields, group: JSON.stringify(group), id: JSON.stringify(id), input };
    const others = JSON.stringify({
      ...{ number, id, group, bytes, textDigest, findings, canonical: canonicalText(own) === text },
      digest: halfDigest(content),
      origin: origin ?? null,
    });
    // The texts of JSON values are put in as they are, so that the database keeps each of their characters.
    const row = `${others.slice(0, -1)},"input":${input},"expected":${expected},"fields":${fields}}`;
    this.numbers.push(number);
    this.bytes += bytes;
    this.rows.push(row);
    this.text += row.length;
  }

  private async flush(): Promise<void> {
    await this.stage();
    await this.insert();
    this.rows = [];
    this.text = 0;
  }

  private async insert(): Promise<void> {
    await this.unitOfWork.query(INSERT, [this.datasetId, `[${this.rows.join(',')}]`]);
  }

  /** Notes the numbers of the draft, so that its records are removed if nobody takes it. */
  private async stage(): Promise<void> {
    if (this.stagedId !== null) return;
    const { first, last } = this.block;
    const [row] = await this.unitOfWork.query<{ id: string }>(STAGE, [this.datasetId, first, last]);
    this.stagedId = row?.id ?? null;
  }

  /** Returns the records from a place on that one statement may copy, and their number. */
  private part<T extends { readonly bytes: number }>(records: readonly T[], at: number): [T[], number] {
    let [end, bytes] = [at, 0];
    while (end < records.length && end - at < MOST_ROWS && (end === at || bytes < 16 * MOST_TEXT))
      bytes += (records[end++] as T).bytes;
    return [records.slice(at, end), end - at];
  }
}
