import { setImmediate } from 'node:timers/promises';
import { injectable } from 'inversify';
import { And, type FindOptionsWhere, IsNull, LessThan, LessThanOrEqual, MoreThan, MoreThanOrEqual, Not } from 'typeorm';
import type { UsageRepository } from '../../../application/jobs/ports.js';
import {
  type EndedCall,
  MOST_ENTRIES,
  Usage,
  type UsageBucket,
  type UsageEntry,
  type UsagePart,
  type UsagePiece,
  type UsageQuery,
  type UsageSummary,
  usageBuckets,
  usageGroups,
} from '../../../domain/jobs/usage.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type JobRow, JobTable } from './job.repository.js';

interface Key {
  /** The id of a team or an account, or empty for all calls. */
  readonly scope: string;
  /** The kind of `group`: one of `usageGroups`, or `none`. */
  readonly groupedBy: string;
  readonly bucket: string;
  readonly start: Date;
  /** Empty for null. */
  readonly group: string;
}

interface UsageRow extends Key {
  readonly summary: UsageSummary;
  readonly histograms: Pick<Usage, 'latency' | 'firstToken'>;
}

/**
 * The sums of many calls in each row. A row is one entry of `GET /v1/usage`, so the time to read an entry does not
 * depend on the number of calls.
 */
export const UsageTable = defineTable<UsageRow>('usage_rollups', {
  scope: { type: 'text', primary: true },
  groupedBy: { type: 'text', primary: true },
  bucket: { type: 'text', primary: true },
  start: { type: 'timestamptz', primary: true },
  group: { type: 'text', primary: true },
  summary: { type: 'json' },
  histograms: { type: 'json' },
});

/** A table with one row. All jobs up to its finish number are rolled up. */
export const UsageProgressTable = defineTable<{ readonly isOnly: boolean; readonly finishNumber: string }>(
  'usage_progress',
  { isOnly: { type: 'boolean', primary: true }, finishNumber: { type: 'bigint' } },
);

export const rolledUpTo = async (unitOfWork: TypeOrmUnitOfWork): Promise<string> =>
  (await unitOfWork.repository(UsageProgressTable).findOneBy({ isOnly: true }))?.finishNumber ?? '0';

/**
 * This SQL is written by hand, because the ORM cannot find rows by lists of several columns, and writes thousands of
 * rows several times as slowly.
 */
const FIND = `
  SELECT scope, grouped_by AS "groupedBy", bucket, start, "group", summary, histograms
    FROM json_to_recordset($1) AS key (scope text, grouped_by text, bucket text, start timestamptz, "group" text)
    JOIN usage_rollups USING (scope, grouped_by, bucket, start, "group")`;

const SAVE = `
  INSERT INTO usage_rollups SELECT * FROM json_populate_recordset(NULL::usage_rollups, $1)
      ON CONFLICT (scope, grouped_by, bucket, start, "group") DO UPDATE
     SET summary = excluded.summary, histograms = excluded.histograms`;

/** Number of rows in one statement. */
const ROWS_AT_ONCE = 500;
const CALLS_WITHOUT_PAUSE = 50;

const CALL = ['id', 'teamId', 'projectId', 'modelId', 'requestedBy', 'createdAt', 'finishedAt', 'usage'] as const;
const within = ({ from, to }: UsagePiece) => And(MoreThanOrEqual(from), LessThan(to));

@injectable()
export class TypeOrmUsageRepository implements UsageRepository {
  private readonly jobs = () => this.unitOfWork.repository(JobTable);
  private readonly rows = () => this.unitOfWork.repository(UsageTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async unrolled(): Promise<string | null> {
    const found = await this.jobs().findOne({
      select: { id: true, finishNumber: true },
      where: { finishNumber: MoreThan(await rolledUpTo(this.unitOfWork)) },
      order: { finishNumber: 'DESC' },
    });
    return found?.finishNumber ?? null;
  }

  async rollUp(last: string, most: number, minutesSince: Date): Promise<boolean> {
    const after = await rolledUpTo(this.unitOfWork);
    if (BigInt(last) <= BigInt(after)) return false; // another instance was faster
    const calls = await this.calls({ finishNumber: And(MoreThan(after), LessThanOrEqual(last)) }, 'ASC', most);
    await this.add(await addends(calls, minutesSince));
    const more = calls.length === most;
    const finishNumber = more ? (calls.at(-1)?.finishNumber ?? last) : last;
    await this.unitOfWork.repository(UsageProgressTable).upsert({ isOnly: true, finishNumber }, ['isOnly']);
    return more;
  }

  /** Reads roll-ups and calls in one unit of work, so that both come from the same snapshot. */
  sums(query: UsageQuery): Promise<UsageEntry[]> {
    return this.unitOfWork.run(async () => {
      const pieces = Usage.pieces(query);
      const ended = { finishNumber: MoreThan(await rolledUpTo(this.unitOfWork)) };
      const fresh = await this.calls(ended, 'DESC', MOST_ENTRIES);
      const calls: EndedCall[] = [];
      const parts: UsagePart[] = [];
      const settled: UsageEntry[] = [];
      for (const piece of pieces) {
        if (piece.of === 'call') {
          calls.push(...(await this.calls({ finishedAt: within(piece) })));
          continue;
        }
        const added = fresh.filter(({ finishedAt }) => finishedAt >= piece.from && finishedAt < piece.to);
        calls.push(...added);
        // Percentiles cannot be added. So the buckets with new calls are summed up again from their histograms.
        const changed = piece.of === query.bucket ? earliest(added, query.bucket, piece.to) : piece.from;
        settled.push(...(await this.rolledUp(query, { ...piece, to: changed }, 'summary')));
        parts.push(...(await this.rolledUp(query, { ...piece, from: changed }, 'histograms')));
      }
      const inScope = calls.filter((call) => Usage.scopesOf(call).includes(query.scope));
      for (const call of inScope)
        parts.push({ ...Usage.of(call), start: call.finishedAt, group: Usage.groupOf(call, query.groupBy) });
      return Usage.entries(parts, query.bucket, settled);
    });
  }

  async size(query: UsageQuery): Promise<number> {
    let size = 0;
    for (const piece of Usage.pieces(query)) {
      if (piece.of === 'call') continue;
      const rows = this.rows().manager.createQueryBuilder().select('count(*)::integer', 'count');
      rows.from((some) => {
        const all = some.select('row.start').from(UsageTable, 'row').where(whereOf(query, piece));
        return all.limit(piece.of === query.bucket ? MOST_ENTRIES : undefined);
      }, 'rows');
      size += (await rows.getRawOne()).count;
    }
    return size;
  }

  private async calls(
    where: FindOptionsWhere<JobRow>,
    order: 'ASC' | 'DESC' = 'ASC',
    most?: number,
  ): Promise<(EndedCall & { finishNumber: string })[]> {
    const calls = this.jobs().createQueryBuilder('job').select('job.finishNumber', 'finishNumber');
    for (const field of CALL) calls.addSelect(`job.${field}`, field);
    calls.where({ finishNumber: Not(IsNull()), mode: 'sync', usage: Not(IsNull()), ...where });
    return calls.orderBy('job.finishNumber', order).limit(most).getRawMany();
  }

  private async rolledUp(query: UsageQuery, piece: UsagePiece, as: 'summary'): Promise<UsageEntry[]>;
  private async rolledUp(query: UsageQuery, piece: UsagePiece, as: 'histograms'): Promise<UsagePart[]>;
  private async rolledUp(query: UsageQuery, piece: UsagePiece, as: 'summary' | 'histograms'): Promise<unknown[]> {
    if (piece.from >= piece.to) return [];
    const rows = this.rows().createQueryBuilder('row').select('row.start', 'start').addSelect('row.group', 'group');
    rows.addSelect('row.summary', 'summary');
    if (as === 'histograms') rows.addSelect('row.histograms', 'histograms');
    rows.where(whereOf(query, piece)).orderBy('row.start', 'DESC').addOrderBy('row.group', 'DESC');
    if (piece.of === query.bucket) rows.limit(MOST_ENTRIES);
    const found = await rows.getRawMany<UsageRow>();
    return found.map(({ start, group, summary, histograms }) => {
      return { ...summary, ...histograms, start, group: group || null };
    });
  }

  private async add(added: readonly (Key & { usage: Usage })[]): Promise<void> {
    for (let at = 0; at < added.length; at += ROWS_AT_ONCE) {
      const part = added.slice(at, at + ROWS_AT_ONCE);
      const keys = part.map(({ groupedBy: grouped_by, usage: _, ...key }) => ({ ...key, grouped_by }));
      const found = await this.unitOfWork.query<UsageRow>(FIND, [JSON.stringify(keys)]);
      const known = new Map(found.map((row) => [textOf(row), { ...row.summary, ...row.histograms }]));
      const rows = part.map(({ usage, ...key }) => {
        const before = known.get(textOf(key));
        const sum = before ? Usage.sum([before, usage]) : usage;
        const histograms = { latency: sum.latency, firstToken: sum.firstToken };
        return { ...key, grouped_by: key.groupedBy, summary: Usage.summary(sum), histograms };
      });
      await this.unitOfWork.query(SAVE, [JSON.stringify(rows)]);
    }
  }
}

/** Returns the start of the first bucket of the calls, or `end` if there are none. */
function earliest(calls: readonly EndedCall[], bucket: UsageBucket, end: Date): Date {
  const first = Math.min(end.getTime(), ...calls.map(({ finishedAt }) => finishedAt.getTime()));
  return first === end.getTime() ? end : Usage.start(new Date(first), bucket);
}

const whereOf = ({ scope, groupBy }: UsageQuery, piece: UsagePiece): FindOptionsWhere<UsageRow> => ({
  scope: scope ?? '',
  groupedBy: groupBy ?? 'none',
  bucket: piece.of,
  start: within(piece),
});

const textOf = ({ scope, groupedBy, bucket, start, group }: Key): string =>
  `${scope} ${groupedBy} ${bucket} ${start.getTime()} ${group}`;

/** Returns the usage that the calls add to each row. Pauses regularly, so that other work can run. */
async function addends(calls: readonly EndedCall[], minutesSince: Date): Promise<(Key & { usage: Usage })[]> {
  const parts = new Map<string, { key: Key; usages: Usage[] }>();
  for (const [number, call] of calls.entries()) {
    if (number % CALLS_WITHOUT_PAUSE === 0) await setImmediate();
    const usage = Usage.of(call);
    for (const key of keysOf(call, minutesSince)) {
      const text = textOf(key);
      const known = parts.get(text);
      if (known) known.usages.push(usage);
      else parts.set(text, { key, usages: [usage] });
    }
  }
  return [...parts.values()].map(({ key, usages }) => ({ ...key, usage: Usage.sum(usages) }));
}

function keysOf(call: EndedCall, minutesSince: Date): Key[] {
  const keys: Key[] = [];
  for (const bucket of usageBuckets) {
    if (bucket === 'minute' && call.finishedAt < minutesSince) continue;
    const start = Usage.start(call.finishedAt, bucket);
    for (const groupBy of [null, ...usageGroups]) {
      const group = Usage.groupOf(call, groupBy) ?? '';
      const groupedBy = groupBy ?? 'none';
      for (const scope of Usage.scopesOf(call)) keys.push({ scope: scope ?? '', groupedBy, bucket, start, group });
    }
  }
  return keys;
}
