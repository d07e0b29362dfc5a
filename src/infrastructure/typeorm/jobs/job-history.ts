import { injectable } from 'inversify';
import { And, In, IsNull, LessThan, LessThanOrEqual, MoreThan, MoreThanOrEqual, Not } from 'typeorm';
import type { CallEnd, HistoryPart, JobHistory } from '../../../application/jobs/ports.js';
import { ruleLimits } from '../../../domain/alerts/alert-rule.js';
import type { CallCounts, CallWindow } from '../../../domain/alerts/call-window.js';
import type { FinishedJob, Job, JobKind } from '../../../domain/jobs/job.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { CallBatches } from './call-batches.js';
import { EndStatement } from './end-statement.js';
import { type JobRow, JobTable } from './job.repository.js';
import { forgetOwnCalls } from './own-call.repository.js';
import { rolledUpTo } from './usage.repository.js';

const PIECE = 1_000;

/** The columns that alert rules need. */
const OF_RULES = [
  'id',
  'teamId',
  'kind',
  'mode',
  'status',
  'projectId',
  'requestedBy',
  'createdAt',
  'startedAt',
  'finishedAt',
  'usage',
  'cost',
] as const satisfies (keyof FinishedJob)[];

const finished = (kind: JobKind | null) => ({ finishNumber: Not(IsNull()), ...(kind !== null && { kind }) });

/** Reads the newest calls by the index `jobs_old_calls`, once for all windows. */
const COUNTS = `
  WITH newest AS MATERIALIZED (
    SELECT kind, status, finished_at, extract(epoch FROM finished_at - created_at)::float8 AS took FROM jobs
     WHERE mode = 'sync' AND finish_number IS NOT NULL AND finished_at > $4
     ORDER BY finished_at DESC LIMIT ${ruleLimits.calls})
  SELECT count(finished_at)::integer AS calls,
         count(*) FILTER (WHERE CASE WHEN slower IS NULL THEN status = 'failed' ELSE took > slower END)::integer AS bad
    FROM unnest($1::timestamptz[], $2::text[], $3::float8[]) WITH ORDINALITY AS of_window (after, of_kind, slower, nth)
    LEFT JOIN newest ON finished_at > after AND status <> 'cancelled' AND (of_kind IS NULL OR kind = of_kind)
   GROUP BY nth ORDER BY nth`;

@injectable()
export class TypeOrmJobHistory implements JobHistory {
  private readonly table = () => this.unitOfWork.repository(JobTable);
  private readonly statement: EndStatement;

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly batches: CallBatches,
  ) {
    this.statement = new EndStatement(unitOfWork);
  }

  async append(job: Job & FinishedJob, durable: boolean, end: CallEnd = {}): Promise<boolean> {
    const { ids } = await this.statement.run({ ends: [{ job, ...end }] }, { durable, withoutRules: false });
    return ids.has(job.id);
  }

  appendWithoutRules(job: Job & FinishedJob, end: CallEnd = {}): Promise<boolean> {
    return this.batches.end({ job, ...end });
  }

  async failuresInARow(kind: JobKind | null, most: number): Promise<number> {
    const order = { finishNumber: 'DESC' } as const;
    const select = { id: true, finishNumber: true } as const;
    const success = await this.table().findOne({ select, where: { ...finished(kind), status: 'succeeded' }, order });
    const since = success?.finishNumber ? { finishNumber: MoreThan(success.finishNumber) } : {};
    const where = { ...finished(kind), ...since, status: 'failed' } as const;
    return (await this.table().find({ select, where, order, take: most })).length;
  }

  async counts(windows: readonly CallWindow[]): Promise<CallCounts[]> {
    if (windows.length === 0) return [];
    const [after, kinds] = [windows.map((window) => window.after), windows.map(({ kind }) => kind)];
    const first = new Date(Math.min(...after.map((time) => time.getTime())));
    return this.unitOfWork.query<CallCounts>(COUNTS, [
      after,
      kinds,
      windows.map(({ slowerThan }) => slowerThan),
      first,
    ]);
  }

  /** Finds the newest jobs first, and omits older ones than `since` among them: no index has both orders. */
  async *part({ kind, since, most }: HistoryPart): AsyncIterable<FinishedJob> {
    const where = finished(kind);
    const select = { id: true, finishNumber: true } as const;
    const order = { finishNumber: 'DESC' } as const;
    const [oldest] = await this.table().find({ select, where, order, skip: most - 1, take: 1 });
    let first = oldest?.finishNumber ?? '0';
    for (let left = most; left > 0; ) {
      const piece = await this.piece(kind, first, Math.min(left, PIECE));
      for (const { finishNumber: _, ...job } of piece) if (!since || job.finishedAt >= since) yield job;
      if (piece.length < PIECE) return;
      first = String(BigInt(piece.at(-1)?.finishNumber ?? 0) + 1n);
      left -= piece.length;
    }
  }

  /** Reads plain rows, because the ORM's objects take several times as long. */
  private piece(
    kind: JobKind | null,
    first: string,
    most: number,
  ): Promise<(FinishedJob & Pick<JobRow, 'finishNumber'>)[]> {
    const jobs = this.table().createQueryBuilder('job').select('job.finishNumber', 'finishNumber');
    for (const field of OF_RULES) jobs.addSelect(`job.${field}`, field);
    jobs.where({ ...finished(kind), finishNumber: MoreThanOrEqual(first) });
    return jobs.orderBy('job.finishNumber', 'ASC').limit(most).getRawMany();
  }

  forgetCalls(before: Date, most: number): Promise<number> {
    return this.unitOfWork.readCommitted(async () => {
      const rolledUp = await rolledUpTo(this.unitOfWork);
      const finishNumber = And(Not(IsNull()), LessThanOrEqual(rolledUp));
      const where = { mode: 'sync', finishNumber, finishedAt: LessThan(before) } as const;
      const lock = { mode: 'pessimistic_write', onLocked: 'skip_locked' } as const;
      const order = { finishedAt: 'ASC' } as const;
      const old = await this.table().find({ select: { id: true }, where, order, take: most, lock });
      if (old.length > 0) await this.table().delete({ id: In(old.map(({ id }) => id)) });
      return Math.max(old.length, await forgetOwnCalls(this.unitOfWork, { before, rolledUp, most }));
    });
  }
}
