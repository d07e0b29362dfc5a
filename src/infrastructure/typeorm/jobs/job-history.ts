import { injectable } from 'inversify';
import { In, IsNull, LessThan, MoreThan, MoreThanOrEqual, Not } from 'typeorm';
import type { HistoryPart, JobHistory } from '../../../application/jobs/ports.js';
import type { FinishedJob, Job, JobKind } from '../../../domain/jobs/job.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type JobRow, JobTable } from './job.repository.js';

/** Rows read at a time. */
const PIECE = 1_000;

const NEXT_NUMBER = () => "nextval('job_finish_numbers')";

/** Lists the columns that the end of a job changes. */
const ENDED: readonly string[] = [
  'status',
  'startedAt',
  'finishedAt',
  'progress',
  'result',
  'error',
  'finishNumber',
] satisfies (keyof JobRow)[];

const finished = (kind: JobKind | null) => ({ finishNumber: Not(IsNull()), ...(kind !== null && { kind }) });

@injectable()
export class TypeOrmJobHistory implements JobHistory {
  private readonly table = () => this.unitOfWork.repository(JobTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async append(job: Job & FinishedJob, durable: boolean): Promise<boolean> {
    const table = this.table();
    const ended = table.metadata.columns.filter(({ propertyName }) => ENDED.includes(propertyName));
    const names = ended.map(({ databaseName }) => databaseName);
    const written = await table
      .createQueryBuilder('job')
      .insert()
      .values({ ...(job as Job as JobRow), finishNumber: NEXT_NUMBER })
      .orUpdate(names, ['id'], { overwriteCondition: { where: 'job.finishNumber IS NULL' } })
      // The setting holds until the end of the transaction and needs no statement of its own.
      .returning(durable ? 'id' : "id, set_config('synchronous_commit', 'off', true)")
      .updateEntity(false)
      .execute();
    return written.raw.length === 1;
  }

  async failuresInARow(kind: JobKind | null, most: number): Promise<number> {
    const order = { finishNumber: 'DESC' } as const;
    const select = { id: true, finishNumber: true } as const;
    const success = await this.table().findOne({ select, where: { ...finished(kind), status: 'succeeded' }, order });
    const since = success?.finishNumber ? { finishNumber: MoreThan(success.finishNumber) } : {};
    const where = { ...finished(kind), ...since, status: 'failed' } as const;
    return (await this.table().find({ select, where, order, take: most })).length;
  }

  async *part({ kind, since, most }: HistoryPart): AsyncIterable<FinishedJob> {
    const where = { ...finished(kind), ...(since && { finishedAt: MoreThanOrEqual(since) }) };
    const select = {
      id: true,
      kind: true,
      status: true,
      startedAt: true,
      finishedAt: true,
      finishNumber: true,
    } as const;
    const [oldest] = await this.table().find({
      select,
      where,
      order: { finishNumber: 'DESC' },
      skip: most - 1,
      take: 1,
    });
    let from = oldest?.finishNumber ?? '0';
    for (let left = most; left > 0; ) {
      const next = { ...where, finishNumber: MoreThanOrEqual(from) };
      const take = Math.min(left, PIECE);
      const piece = await this.table().find({ select, where: next, order: { finishNumber: 'ASC' }, take });
      for (const { finishNumber: _, ...job } of piece) yield job as FinishedJob;
      if (piece.length < take) return;
      from = String(BigInt(piece.at(-1)?.finishNumber ?? 0) + 1n);
      left -= piece.length;
    }
  }

  async forgetCalls(before: Date, most: number): Promise<void> {
    const where = { mode: 'sync', finishNumber: Not(IsNull()), finishedAt: LessThan(before) } as const;
    const old = await this.table().find({ select: { id: true }, where, order: { finishedAt: 'ASC' }, take: most });
    if (old.length > 0) await this.table().delete({ id: In(old.map(({ id }) => id)) });
  }
}
