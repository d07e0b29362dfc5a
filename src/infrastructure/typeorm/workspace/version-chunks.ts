import { injectable } from 'inversify';
import type { RecordSpan } from '../../../application/workspace/ports.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** A chunk in the list of a version. */
export interface Chunk {
  readonly number: number;
  /** The number of its records. */
  readonly size: number;
}

export interface FilledChunk {
  readonly number: number;
  readonly records: readonly number[];
}

/** The records of a chunk. A change of one record writes one chunk, and the list of chunks of the new version. */
const MOST_IN_CHUNK = 256;

/** Each draft takes the numbers of its records and chunks from a block of its own. No dataset has more records. */
export const BLOCK = 2 ** 17;

/** Gives out the numbers of one block. */
export class Block {
  private records = 0;
  private chunks = 0;

  constructor(private readonly number: number) {}

  get first(): number {
    return this.number * BLOCK;
  }

  get last(): number {
    return this.first + BLOCK - 1;
  }

  record(): number {
    if (this.records === BLOCK) throw new Error('A draft has too many records.');
    return this.first + this.records++;
  }

  chunk(): number {
    return this.first + this.chunks++;
  }

  /** Gives out the numbers of chunks again, for a unit of work that is repeated. */
  restartChunks(): void {
    this.chunks = 0;
  }
}

/** Splits records into chunks of about the same size. */
export function split(records: readonly number[], block: Block): FilledChunk[] {
  const count = Math.ceil(records.length / MOST_IN_CHUNK);
  return Array.from({ length: count }, (_, at) => ({
    number: block.chunk(),
    records: records.slice(Math.round((at * records.length) / count), Math.round(((at + 1) * records.length) / count)),
  }));
}

/** Divides a list into chunks. Takes the chunks of `base` that are a part of the list as they are. */
export function divided(
  records: readonly number[],
  base: readonly FilledChunk[],
  block: Block,
): { readonly list: Chunk[]; readonly added: FilledChunk[] } {
  const byFirst = new Map(base.map((chunk) => [chunk.records[0], chunk]));
  const list: Chunk[] = [];
  const added: FilledChunk[] = [];
  let pending: number[] = [];
  const flush = () => {
    for (const chunk of split(pending, block)) {
      added.push(chunk);
      list.push({ number: chunk.number, size: chunk.records.length });
    }
    pending = [];
  };
  for (let at = 0; at < records.length; ) {
    const known = byFirst.get(records[at]);
    if (known?.records.every((number, index) => records[at + index] === number)) {
      flush();
      list.push({ number: known.number, size: known.records.length });
      at += known.records.length;
    } else pending.push(records[at++] as number);
  }
  flush();
  if (list.length <= 16 + (2 * records.length) / MOST_IN_CHUNK) return { list, added };
  block.restartChunks();
  const all = split(records, block); // many small chunks would make the list of each later version long
  return { list: all.map(({ number, records: { length: size } }) => ({ number, size })), added: all };
}

/** The database looks for at most this many records in each chunk. */
const MOST_COMPARED = 100;

/** Reads and writes the chunks of versions. */
@injectable()
export class VersionChunks {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** Returns the chunks that contain a part of the list, and the offset of the first of them. */
  static covering(
    list: readonly Chunk[],
    { offset, count }: RecordSpan,
  ): { start: number; first: number; end: number } {
    let [first, start] = [0, 0];
    while (first < list.length && start + (list[first] as Chunk).size <= offset) start += (list[first++] as Chunk).size;
    let [end, covered] = [first, start];
    while (end < list.length && covered < offset + count) covered += (list[end++] as Chunk).size;
    return { start, first, end };
  }

  /** Returns the chunks in this order. Omits those that were removed. */
  async filled(datasetId: string, chunks: readonly Pick<Chunk, 'number'>[]): Promise<FilledChunk[]> {
    if (chunks.length === 0) return [];
    const rows = await this.unitOfWork.query<{ number: string; records: string[] }>(
      'SELECT number, records FROM dataset_chunks WHERE dataset_id = $1 AND number = ANY($2::bigint[])',
      [datasetId, chunks.map(({ number }) => number)],
    );
    const byNumber = new Map(rows.map((row) => [Number(row.number), row.records.map(Number)]));
    return chunks.flatMap(({ number }) => {
      const records = byNumber.get(number);
      return records ? [{ number, records }] : [];
    });
  }

  /** Returns the numbers of the records of a part of the list, or null if the version was removed meanwhile. */
  async numbers(datasetId: string, list: readonly Chunk[], span: RecordSpan): Promise<number[] | null> {
    const { start, first, end } = VersionChunks.covering(list, span);
    const wanted = list.slice(first, end);
    const chunks = await this.filled(datasetId, wanted);
    if (chunks.length < wanted.length) return null;
    const from = span.offset - start;
    return chunks.flatMap(({ records }) => records).slice(from, from + span.count);
  }

  /** Returns the offsets of those of the records that are in the list. */
  async offsets(
    datasetId: string,
    list: readonly Chunk[],
    records: readonly number[],
  ): Promise<ReadonlyMap<number, number>> {
    if (records.length === 0) return new Map();
    // The database compares each record with each one of a chunk, which takes too long for many.
    const readsAll = records.length > MOST_COMPARED;
    const rows = await this.unitOfWork.query<{ number: string; records: string[] }>(
      `SELECT number, records FROM dataset_chunks
        WHERE dataset_id = $1 AND number = ANY($2::bigint[]) AND ($4 OR records && $3::bigint[])`,
      [datasetId, list.map(({ number }) => number), readsAll ? [] : records, readsAll],
    );
    const byNumber = new Map(rows.map((row) => [Number(row.number), row.records.map(Number)]));
    const wanted = new Set(records);
    const found = new Map<number, number>();
    let start = 0;
    for (const { number, size } of list) {
      for (const [index, record] of (byNumber.get(number) ?? []).entries())
        if (wanted.has(record)) found.set(record, start + index);
      start += size;
    }
    return found;
  }

  async add(datasetId: string, chunks: readonly FilledChunk[]): Promise<void> {
    if (chunks.length === 0) return;
    await this.unitOfWork.query(
      `INSERT INTO dataset_chunks (dataset_id, number, records)
       SELECT $1, number, records FROM json_to_recordset($2::json) AS chunk(number bigint, records bigint[])`,
      [datasetId, JSON.stringify(chunks)],
    );
  }
}
