import { injectable } from 'inversify';
import { And, In, IsNull, LessThan, LessThanOrEqual, MoreThan, MoreThanOrEqual, Not } from 'typeorm';
import { FINISHING } from '../../../application/jobs/job-finisher.js';
import type { CallEnd, HistoryPart, JobHistory } from '../../../application/jobs/ports.js';
import { ruleLimits } from '../../../domain/alerts/alert-rule.js';
import type { CallCounts, CallWindow } from '../../../domain/alerts/call-window.js';
import type { FinishedJob, Job, JobKind } from '../../../domain/jobs/job.js';
import { Batches } from '../batches.js';
import { KeptCalls } from '../record/kept-calls.js';
import { amountsJson, NOT_DURABLE } from '../spend/hold.repository.js';
import { refusesRows } from '../storage-errors.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { inOrder, type JobRow, JobTable } from './job.repository.js';
import { forgetOwnCalls } from './own-call.repository.js';
import { rolledUpTo } from './usage.repository.js';

const PIECE = 1_000;

/** The most bytes of content in one statement. To index the words of more could take longer than a statement may. */
const CONTENT_AT_ONCE = 512 * 1024;

/** Settles the holds of the stored calls. Their amounts and whether they have holds follow the parameter `last`. */
const settled = (last: number) => `
  SELECT array_agg(id) AS ids, settle_holds(team_id, jsonb_agg(jsonb_build_object(
           'id', id, 'taken', taken, 'is_held', is_held, 'at', created_at,
           'scopes', ARRAY[team_id, project_id, requested_by, usage->>'keyId'])))
    FROM stored JOIN unnest($1::text[], $${last + 1}::jsonb[], $${last + 2}::boolean[]) AS charge (id, taken, is_held) USING (id)
   GROUP BY team_id`;

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

/** The end of a call. */
interface End extends CallEnd {
  readonly job: Job & FinishedJob;
}

/** The further work of a statement that stores jobs. */
interface Does {
  readonly settles: boolean;
  readonly keeps: boolean;
}

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

  /** Calls of a team that end at the same time are stored together: their budgets would let only one pass after another. */
  private readonly ending = new Batches((ends: readonly End[]) => this.endAll(ends), {
    most: CONTENT_AT_ONCE,
    weightOf: ({ kept }) => kept?.bytes ?? 0,
  });

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async append(job: Job & FinishedJob, durable: boolean, end: CallEnd = {}): Promise<boolean> {
    return (await this.insert([{ job, ...end }], durable, 'true')).has(job.id);
  }

  async appendWithoutRules(job: Job & FinishedJob, about: CallEnd = {}): Promise<boolean> {
    const end = { job, ...about };
    return this.ending.add(`${job.teamId} ${Boolean(end.charge)}`, end).catch(async (error) => {
      if (!refusesRows(error)) throw error;
      // The refused row may be that of another end in the statement. An end never depends on what is kept of its call.
      const alone = await this.insertWithoutRules([end]).catch((again) => {
        if (!refusesRows(again) || !end.kept) throw again;
        return this.insertWithoutRules([{ ...end, kept: null }]);
      });
      return alone.has(job.id);
    });
  }

  private async endAll(ends: readonly End[]): Promise<boolean[]> {
    const stored = await this.insertWithoutRules(inOrder(ends, ({ job }) => job.id));
    return ends.map(({ job }) => stored.has(job.id));
  }

  private insertWithoutRules(ends: readonly End[]): Promise<Set<string>> {
    return this.insert(ends, false, `no_alert_rule('${FINISHING}')`);
  }

  /** Stores finished jobs of a team if `condition` is true. All have a charge, or none has. Returns the ids of those stored. */
  private async insert(ends: readonly End[], durable: boolean, condition: string): Promise<Set<string>> {
    const charges = ends.flatMap(({ charge }) => charge ?? []);
    const does = { settles: charges.length > 0, keeps: ends.some(({ kept }) => kept) };
    const name = `end of jobs ${durable} ${does.settles} ${does.keeps} ${condition}`;
    const text = this.texts.get(name) ?? this.insertText(durable, condition, does);
    this.texts.set(name, text);
    const { driver } = this.table().manager.dataSource;
    const values: unknown[] = this.columns().map((column) =>
      ends.map(({ job }) => driver.preparePersistentValue(column.getEntityValue(job), column)),
    );
    if (does.keeps) values.push(...KeptCalls.values(ends.map(({ kept = null }) => kept)));
    if (does.settles)
      values.push(
        charges.map(({ taken }) => amountsJson(taken)),
        charges.map(({ isHeld }) => isHeld),
      );
    const [stored] = await this.unitOfWork.prepared<{ ids: string[] | null }>(name, text, values);
    return new Set(stored?.ids);
  }

  /**
   * Returns the SQL with which every call ends. It is written by hand, because the ORM can neither prepare it nor insert
   * on a condition. The names and types of the columns come from the table.
   */
  private insertText(durable: boolean, condition: string, { settles, keeps }: Does): string {
    const columns = this.columns();
    const last = columns.length + (keeps ? KeptCalls.values([]).length : 0);
    const ended = columns.filter(({ propertyName }) => ENDED.includes(propertyName));
    return `
      WITH stored AS (
        INSERT INTO jobs (finish_number, ${columns.map(({ databaseName }) => databaseName)})
        SELECT nextval('job_finish_numbers'), job.*
          FROM unnest(${columns.map(({ type }, at) => `$${at + 1}::${type}[]`)}) AS job WHERE (SELECT ${condition})
            ON CONFLICT (id) DO UPDATE
           SET finish_number = excluded.finish_number,
               ${ended.map(({ databaseName }) => `${databaseName} = excluded.${databaseName}`)}
         WHERE jobs.finish_number IS NULL
        RETURNING jobs.*${durable ? '' : `, ${NOT_DURABLE}`})${keeps ? `, ${KeptCalls.sql(columns.length)}` : ''}
      ${settles ? settled(last) : 'SELECT array_agg(id) AS ids FROM stored'}`;
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
