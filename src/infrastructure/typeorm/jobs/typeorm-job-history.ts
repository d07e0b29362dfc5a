import { injectable } from 'inversify';
import type { HistoryPart, JobHistory } from '../../../application/jobs/ports.js';
import { type FinishedJob, Job, type JobKind } from '../../../domain/jobs/job.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { COLUMNS, ROWS, textOf, VALUES } from './job-table.js';

/** Numbered on from the greatest, which nobody else does meanwhile; written by their ids, as in `TypeOrmJobs`. */
const append = (last: string, where = '') => `
  INSERT INTO jobs (${COLUMNS}, finish_number)
  SELECT ${VALUES}, nth + ${last} FROM ${ROWS} ${where} ORDER BY id
  ON CONFLICT (id) DO UPDATE
    SET status = excluded.status, started_at = excluded.started_at, finished_at = excluded.finished_at,
        progress = excluded.progress, result = excluded.result, error = excluded.error,
        finish_number = excluded.finish_number`;

const APPEND = append('(SELECT coalesce(max(finish_number), 0) FROM jobs)');

/**
 * A single statement, so that nobody holds the line up while the way to the database is slow. At another isolation, which
 * a database may have by default, the function would see the rules as they were before its turn: nothing is written then.
 */
const APPEND_UNNOTICED = `
  WITH turn AS MATERIALIZED (
    SELECT unnoticed_turn($2, $3, $4, $5) AS last WHERE current_setting('transaction_isolation') = 'read committed')
  ${append('(SELECT last FROM turn)', 'WHERE (SELECT last FROM turn) IS NOT NULL')}
  WHERE jobs.finish_number IS NULL RETURNING id`;

const FAILURES = `
  SELECT count(*)::integer AS failures FROM (
    SELECT bool_or(status = 'succeeded') OVER (ORDER BY finish_number DESC) AS before
      FROM (SELECT status, finish_number FROM jobs
             WHERE finish_number IS NOT NULL AND status <> 'cancelled' AND ($1::text IS NULL OR kind = $1)
             ORDER BY finish_number DESC LIMIT $2) newest
  ) run WHERE NOT before`;

const OLDEST = `
  SELECT min(finish_number) AS oldest FROM (
    SELECT finish_number FROM jobs
     WHERE finish_number IS NOT NULL AND ($1::text IS NULL OR kind = $1) AND ($2::timestamptz IS NULL OR finished_at >= $2)
     ORDER BY finish_number DESC LIMIT $3
  ) newest`;

const PART = `
  SELECT id, kind, status, started_at AS "startedAt", finished_at AS "finishedAt", finish_number AS number FROM jobs
   WHERE finish_number >= $3 AND ($1::text IS NULL OR kind = $1) AND ($2::timestamptz IS NULL OR finished_at >= $2)
   ORDER BY finish_number LIMIT $4`;

const FORGET = `
  DELETE FROM jobs WHERE id IN (
    SELECT id FROM jobs WHERE mode = 'sync' AND finish_number IS NOT NULL AND finished_at < $1
     ORDER BY finished_at LIMIT $2)`;

const PIECE = 1_000;

@injectable()
export class TypeOrmJobHistory implements JobHistory {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async append(jobs: readonly (Job & FinishedJob)[]): Promise<void> {
    await this.unitOfWork.prepared('jobs-append', APPEND, [textOf(jobs)]);
  }

  async appendUnnoticed(line: string, calls: readonly (Job & FinishedJob)[]): Promise<string[]> {
    const columns = [calls.map(({ kind }) => kind), calls.map(({ status }) => status), calls.map(Job.duration)];
    const values = [textOf(calls), line, ...columns];
    const written = await this.unitOfWork.prepared<Pick<Job, 'id'>>('jobs-append-unnoticed', APPEND_UNNOTICED, values);
    return written.map(({ id }) => id);
  }

  async failuresInARow(kind: JobKind | null, most: number): Promise<number> {
    type Count = { failures: number };
    const [count] = await this.unitOfWork.prepared<Count>('jobs-failures', FAILURES, [kind, most]);
    return count?.failures ?? 0;
  }

  async *part({ kind, since, most }: HistoryPart): AsyncIterable<FinishedJob> {
    type Oldest = { oldest: string | null };
    type Numbered = FinishedJob & { number: string };
    const [found] = await this.unitOfWork.prepared<Oldest>('jobs-oldest', OLDEST, [kind, since, most]);
    let next = found?.oldest ?? null;
    for (let left = most; next !== null && left > 0; ) {
      const limit = Math.min(left, PIECE);
      const values = [kind, since, next, limit];
      const piece: Numbered[] = await this.unitOfWork.prepared<Numbered>('jobs-part', PART, values);
      for (const { number: _, ...job } of piece) yield job;
      const last = piece.at(-1);
      next = last && piece.length === limit ? String(BigInt(last.number) + 1n) : null;
      left -= piece.length;
    }
  }

  async forgetCalls(before: Date, most: number): Promise<void> {
    await this.unitOfWork.prepared('jobs-forget', FORGET, [before, most]);
  }
}
