import { injectable } from 'inversify';
import { And, In, IsNull, LessThan, LessThanOrEqual, MoreThan, MoreThanOrEqual, Not } from 'typeorm';
import { FINISHING } from '../../../application/jobs/job-finisher.js';
import type { HistoryPart, JobHistory } from '../../../application/jobs/ports.js';
import type { Charge } from '../../../application/spend/ports.js';
import { ruleLimits } from '../../../domain/alerts/alert-rule.js';
import type { CallCounts, CallWindow } from '../../../domain/alerts/call-window.js';
import type { FinishedJob, Job, JobKind } from '../../../domain/jobs/job.js';
import { amountsJson } from '../spend/hold.repository.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type JobRow, JobTable } from './job.repository.js';
import { rolledUpTo } from './usage.repository.js';

const PIECE = 1_000;

/** Turns off synchronous commits for the transaction, as a part of another statement. */
const NOT_DURABLE = "set_config('synchronous_commit', 'off', true)";

/** Settles the holds of the stored call. Its amounts and whether it has holds follow the parameter `last`. */
const settled = (last: number) =>
  `settle_holds(id, $${last + 1}, team_id, ARRAY[team_id, project_id, requested_by, usage->>'keyId'], created_at, $${last + 2})`;

/** The columns that the end of a job changes. */
const ENDED: readonly string[] = [
  'status',
  'modelId',
  'startedAt',
  'finishedAt',
  'progress',
  'result',
  'error',
  'usage',
  'cost',
] satisfies (keyof JobRow)[];

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
  /** The texts of `insert`, by the names of the statements. Every call needs one, so each is built only once. */
  private readonly texts = new Map<string, string>();

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  append(job: Job & FinishedJob, durable: boolean, charge: Charge | null = null): Promise<boolean> {
    return this.insert(job, durable, 'true', charge);
  }

  appendWithoutRules(job: Job & FinishedJob, charge: Charge | null = null): Promise<boolean> {
    return this.insert(job, false, `no_alert_rule('${FINISHING}')`, charge);
  }

  /** Stores a finished job if `condition` is true. */
  private async insert(
    job: Job & FinishedJob,
    durable: boolean,
    condition: string,
    charge: Charge | null,
  ): Promise<boolean> {
    const name = `end of a job ${durable} ${charge !== null} ${condition}`;
    const text = this.texts.get(name) ?? this.insertText(durable, condition, charge !== null);
    this.texts.set(name, text);
    const { driver } = this.table().manager.dataSource;
    const values = this.columns().map((column) => driver.preparePersistentValue(column.getEntityValue(job), column));
    if (charge) values.push(amountsJson(charge.taken), charge.isHeld);
    return (await this.unitOfWork.prepared(name, text, values)).length === 1;
  }

  /**
   * Returns the SQL with which every call ends. It is written by hand, because the ORM can neither prepare it nor insert
   * on a condition. The names of the columns come from the table.
   */
  private insertText(durable: boolean, condition: string, settles: boolean): string {
    const columns = this.columns();
    const ended = columns.filter(({ propertyName }) => ENDED.includes(propertyName));
    return `
      INSERT INTO jobs (finish_number, ${columns.map(({ databaseName }) => databaseName)})
      SELECT nextval('job_finish_numbers'), ${columns.map((_, at) => `$${at + 1}`)} WHERE ${condition}
          ON CONFLICT (id) DO UPDATE
         SET finish_number = excluded.finish_number,
             ${ended.map(({ databaseName }) => `${databaseName} = excluded.${databaseName}`)}
       WHERE jobs.finish_number IS NULL
      RETURNING ${durable ? 'id' : NOT_DURABLE}${settles ? `, ${settled(columns.length)}` : ''}`;
  }

  private columns() {
    return this.table().metadata.columns.filter(({ propertyName }) => propertyName !== 'finishNumber');
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
      const finishNumber = And(Not(IsNull()), LessThanOrEqual(await rolledUpTo(this.unitOfWork)));
      const where = { mode: 'sync', finishNumber, finishedAt: LessThan(before) } as const;
      const lock = { mode: 'pessimistic_write', onLocked: 'skip_locked' } as const;
      const order = { finishedAt: 'ASC' } as const;
      const old = await this.table().find({ select: { id: true }, where, order, take: most, lock });
      if (old.length > 0) await this.table().delete({ id: In(old.map(({ id }) => id)) });
      return old.length;
    });
  }
}
