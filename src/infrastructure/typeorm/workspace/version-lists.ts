import { injectable } from 'inversify';
import type { HeldMemory } from '../../../application/shared/held-memory.js';
import type { RecordChange } from '../../../application/workspace/ports.js';
import { heldBytes } from '../../../domain/shared/text.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { TypeOrmRecordDraft } from './record-draft.js';
import { type Chunk, divided, type FilledChunk, split, VersionChunks } from './version-chunks.js';

/** A record with all that tells it from others. */
interface StoredRecord {
  readonly number: number;
  readonly id: string;
  readonly textDigest: string;
}

interface ListRow {
  readonly chunks: readonly string[] | null;
  readonly sizes: readonly number[] | null;
}

/** The memory of a stored record in the list and in the map of a draft, without its id. */
const STORED_BYTES = 200;

/** Limits the records that one statement reads. */
const MOST_READ = 10_000;

const STORED = `
  SELECT number, record_id AS id, encode(text_digest, 'hex') AS "textDigest" FROM dataset_records
   WHERE dataset_id = $1 AND number = ANY($2::bigint[])`;

/** Returns the columns of a version that store its list. */
export const columnsOf = (list: readonly Chunk[]) => ({
  chunks: list.map(({ number }) => number),
  sizes: list.map(({ size }) => size),
});

/** The lists of chunks of versions. A list is stored with its version and never changes. */
@injectable()
export class VersionLists {
  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly chunks: VersionChunks,
  ) {}

  /**
   * Returns null if the dataset does not have the version, and undefined if an earlier release has stored its records.
   */
  async find(datasetId: string, version: number): Promise<readonly Chunk[] | null | undefined> {
    const statement = 'SELECT chunks, sizes FROM dataset_versions WHERE dataset_id = $1 AND version = $2';
    const [row] = await this.unitOfWork.query<ListRow>(statement, [datasetId, version]);
    if (!row) return null;
    const { chunks, sizes } = row;
    return chunks && sizes ? chunks.map((number, at) => ({ number: Number(number), size: sizes[at] ?? 0 })) : undefined;
  }

  /** Returns all records of a list, with what tells them apart. `held` gets their memory. */
  async storedRecords(datasetId: string, list: readonly Chunk[], held?: HeldMemory): Promise<StoredRecord[]> {
    let bytes = 0;
    const numbers = (await this.chunks.filled(datasetId, list)).flatMap(({ records }) => records);
    const found: StoredRecord[] = [];
    for (let at = 0; at < numbers.length; at += MOST_READ) {
      const values = [datasetId, numbers.slice(at, at + MOST_READ)];
      const rows = await this.unitOfWork.query<StoredRecord & { number: string }>(STORED, values);
      // The rows come in any order. The first of equal records must come first.
      const byNumber = new Map(rows.map((row) => [Number(row.number), row]));
      for (const number of numbers.slice(at, at + MOST_READ)) {
        const row = byNumber.get(number);
        if (!row) continue;
        found.push({ ...row, number });
        bytes += STORED_BYTES + 2 * heldBytes(row.id);
      }
      await held?.reach(bytes);
    }
    return found;
  }

  /**
   * Stores the new records and chunks of a change, and returns the new list. Runs in the unit of work that stores the
   * version. `before` is the list of the version that the change is about.
   */
  async apply(change: RecordChange, before: readonly Chunk[]): Promise<Chunk[]> {
    const { instead } = change;
    const draft = change.draft as TypeOrmRecordDraft;
    const { datasetId, block, numbers } = draft;
    block.restartChunks();
    await draft.finish();
    const { list, added } = instead
      ? await this.spliced(draft, before, instead)
      : divided(numbers, await this.reusable(draft, before), block);
    await this.chunks.add(datasetId, added);
    return [...list];
  }

  /** Returns the chunks of the list if the draft has taken some of their records. */
  private async reusable({ datasetId, numbers, block }: TypeOrmRecordDraft, before: readonly Chunk[]) {
    const isNew = numbers.every((number) => number >= block.first && number <= block.last);
    return isNew ? [] : this.chunks.filled(datasetId, before);
  }

  /** Replaces a part of a list. Only the chunks that the part touches are made anew. */
  private async spliced(
    { datasetId, numbers, block }: TypeOrmRecordDraft,
    before: readonly Chunk[],
    span: { readonly offset: number; readonly count: number },
  ): Promise<{ list: Chunk[]; added: FilledChunk[] }> {
    let { start, first, end } = VersionChunks.covering(before, span);
    const last = before.at(-1);
    if (first === before.length && last) {
      // New records at the end go into the last chunk.
      first--;
      start -= last.size;
      end = before.length;
    }
    const touched = (await this.chunks.filled(datasetId, before.slice(first, end))).flatMap(({ records }) => records);
    const from = span.offset - start;
    const records = [...touched.slice(0, from), ...numbers, ...touched.slice(from + span.count)];
    const added = split(records, block);
    const own = added.map(({ number, records: { length: size } }) => ({ number, size }));
    return { list: [...before.slice(0, first), ...own, ...before.slice(end)], added };
  }
}
