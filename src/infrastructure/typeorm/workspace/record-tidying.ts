import { injectable } from 'inversify';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** Limits the rows that one step removes. */
const MOST = 2_000;

/** Takes the oldest leftover that is due and that no other instance removes at this moment. */
const DUE = `
  SELECT id, dataset_id AS "datasetId", first_number AS first, last_number AS last, records, chunks
    FROM dataset_leftovers WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

interface Leftover {
  readonly id: string;
  readonly datasetId: string;
  readonly first: string | null;
  readonly last: string | null;
  readonly records: readonly string[] | null;
  readonly chunks: readonly string[] | null;
}

const TABLES = ['dataset_records', 'dataset_chunks'] as const;

/** Removes records and chunks that no version has, a limited number in each step. */
@injectable()
export class RecordTidying {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** Notes records and chunks of a dataset for removal. Runs in the unit of work that removes their last version. */
  async note(datasetId: string, records: readonly number[], chunks: readonly number[]): Promise<void> {
    for (let at = 0; at < Math.max(records.length, chunks.length); at += MOST)
      await this.unitOfWork.query(
        'INSERT INTO dataset_leftovers (dataset_id, records, chunks, due_at) VALUES ($1, $2, $3, now())',
        [datasetId, records.slice(at, at + MOST), chunks.slice(at, at + MOST)],
      );
  }

  /** Returns false if nothing was due. */
  step(): Promise<boolean> {
    return this.unitOfWork.readCommitted(async () => {
      const [leftover] = await this.unitOfWork.query<Leftover>(DUE);
      if (!leftover) return false;
      const left = leftover.first === null ? await this.removeListed(leftover) : await this.removeRange(leftover);
      if (!left) await this.unitOfWork.query('DELETE FROM dataset_leftovers WHERE id = $1', [leftover.id]);
      return true;
    });
  }

  private async removeListed({ datasetId, records, chunks }: Leftover): Promise<boolean> {
    for (const [table, numbers] of [[TABLES[0], records] as const, [TABLES[1], chunks] as const])
      await this.unitOfWork.query(`DELETE FROM ${table} WHERE dataset_id = $1 AND number = ANY($2::bigint[])`, [
        datasetId,
        numbers ?? [],
      ]);
    return false;
  }

  /** Returns true if more rows may be left. */
  private async removeRange({ datasetId, first, last }: Leftover): Promise<boolean> {
    for (const table of TABLES) {
      const removed = await this.unitOfWork.query(
        `DELETE FROM ${table} WHERE dataset_id = $1 AND number = ANY (ARRAY(
           SELECT number FROM ${table} WHERE dataset_id = $1 AND number BETWEEN $2 AND $3 LIMIT ${MOST})) RETURNING 1`,
        [datasetId, first, last],
      );
      if (removed.length === MOST) return true;
    }
    return false;
  }
}
