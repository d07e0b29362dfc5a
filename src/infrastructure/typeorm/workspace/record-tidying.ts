import { injectable } from 'inversify';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** Limits the rows that one step removes. */
const MOST = 2_000;

/** Limits the bytes of these rows. The last row may go beyond. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Limits the leftovers that an instance passes over because they failed. */
const MOST_FAILED = 1_000;

/** Takes the oldest leftover that is due, that did not fail, and that no other instance removes at this moment. */
const DUE = `
  SELECT id, dataset_id AS "datasetId", first_number AS first, last_number AS last, records, chunks
    FROM dataset_leftovers WHERE due_at <= now() AND id <> ALL ($1::bigint[])
   ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

const removal = (rows: string) => `
  DELETE FROM dataset_records WHERE dataset_id = $1 AND number = ANY (ARRAY(
    SELECT number FROM (
      SELECT number, sum(bytes) OVER (ORDER BY number) - bytes AS before FROM (
        SELECT number, bytes FROM dataset_records
         WHERE dataset_id = $1 AND ${rows} ORDER BY number LIMIT ${MOST}) part) one
     WHERE before < ${MOST_BYTES})) RETURNING 1`;

const REMOVE_LISTED = removal('number = ANY ($2::bigint[])');
const REMOVE_RANGE = removal('number BETWEEN $2 AND $3');

const REMOVE_CHUNKS = 'DELETE FROM dataset_chunks WHERE dataset_id = $1 AND number = ANY ($2::bigint[])';
const REMOVE_CHUNKS_IN_RANGE = `
  DELETE FROM dataset_chunks WHERE dataset_id = $1 AND number = ANY (ARRAY(
    SELECT number FROM dataset_chunks WHERE dataset_id = $1 AND number BETWEEN $2 AND $3 LIMIT ${MOST})) RETURNING 1`;

interface Leftover {
  readonly id: string;
  readonly datasetId: string;
  readonly first: string | null;
  readonly last: string | null;
  readonly records: readonly string[] | null;
  readonly chunks: readonly string[] | null;
}

/** Removes records and chunks that no version has, a limited number in each step. */
@injectable()
export class RecordTidying {
  private readonly failed = new Set<string>();

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** Notes records and chunks of a dataset for removal. Runs in the unit of work that removes their last version. */
  async note(datasetId: string, records: readonly number[], chunks: readonly number[]): Promise<void> {
    for (let at = 0; at < Math.max(records.length, chunks.length); at += MOST)
      await this.unitOfWork.query(
        'INSERT INTO dataset_leftovers (dataset_id, records, chunks, due_at) VALUES ($1, $2, $3, now())',
        [datasetId, records.slice(at, at + MOST), chunks.slice(at, at + MOST)],
      );
  }

  /**
   * Returns false if nothing was due. If it fails, later steps remove the other leftovers first, so that none stops the
   * others.
   */
  async step(): Promise<boolean> {
    const now: { id?: string } = {};
    try {
      return await this.unitOfWork.readCommitted(async () => {
        const [leftover] = await this.unitOfWork.query<Leftover>(DUE, [[...this.failed]]);
        if (!leftover) {
          this.failed.clear();
          return false;
        }
        now.id = leftover.id;
        const { datasetId, first, last, records, chunks } = leftover;
        const isLeft = await (first === null
          ? this.removeListed(datasetId, records ?? [], chunks ?? [])
          : this.removeRange([datasetId, first, last]));
        if (!isLeft) await this.unitOfWork.query('DELETE FROM dataset_leftovers WHERE id = $1', [leftover.id]);
        return true;
      });
    } catch (error) {
      if (this.failed.size >= MOST_FAILED) this.failed.clear();
      if (now.id !== undefined) this.failed.add(now.id);
      throw error;
    }
  }

  /** Returns true if more rows may be left. */
  private async removeListed(
    datasetId: string,
    records: readonly string[],
    chunks: readonly string[],
  ): Promise<boolean> {
    if ((await this.unitOfWork.query(REMOVE_LISTED, [datasetId, records])).length > 0) return true;
    await this.unitOfWork.query(REMOVE_CHUNKS, [datasetId, chunks]);
    return false;
  }

  /** Returns true if more rows may be left. */
  private async removeRange(range: readonly unknown[]): Promise<boolean> {
    if ((await this.unitOfWork.query(REMOVE_RANGE, [...range])).length > 0) return true;
    return (await this.unitOfWork.query(REMOVE_CHUNKS_IN_RANGE, [...range])).length === MOST;
  }
}
