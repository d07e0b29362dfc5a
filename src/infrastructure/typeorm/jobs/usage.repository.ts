import { setImmediate } from 'node:timers/promises';
import { injectable } from 'inversify';
import { And, type FindOptionsWhere, In, LessThan, MoreThanOrEqual } from 'typeorm';
import type { UsageRepository } from '../../../application/jobs/ports.js';
import {
  type EndedCall,
  MOST_ENTRIES,
  Usage,
  type UsageBucket,
  type UsageEntry,
  type UsageGroup,
  type UsagePart,
  type UsagePiece,
  type UsageQuery,
  usageBuckets,
  usageGroups,
} from '../../../domain/jobs/usage.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { ENDED_CALLS } from './ended-calls.js';
import { storedOf, usageOf } from './stored-usage.js';

/** The place of a sum, with names as texts. */
interface Key {
  /** The id of a team or an account, or empty for all calls. */
  readonly scope: string;
  readonly groupBy: UsageGroup | null;
  readonly bucket: UsageBucket;
  readonly start: Date;
  /** Empty for null. */
  readonly group: string;
}

interface UsageRow {
  readonly start: Date;
  /** Ids of names. */
  readonly scope: number;
  readonly group: number;
  /** 0 for no group, else the place in `usageGroups`, from 1. */
  readonly groupedBy: number;
  /** The place in `usageBuckets`, from 0. */
  readonly bucket: number;
  readonly sums: object;
}

/**
 * The sums of many calls in each row. A row is one entry of `GET /v1/usage`, so the time to read an entry does not
 * depend on the number of calls. There are as many rows as distinct callers and models in each hour, so a row is small.
 */
export const UsageTable = defineTable<UsageRow>('usage_rollups', {
  start: { type: 'timestamptz', primary: true },
  scope: { type: 'integer', primary: true },
  group: { type: 'integer', primary: true },
  groupedBy: { type: 'smallint', primary: true },
  bucket: { type: 'smallint', primary: true },
  sums: { type: 'json' },
});

/** The names of scopes and groups. */
export const UsageNameTable = defineTable<{ readonly id: number; readonly name: string }>('usage_names', {
  id: { type: 'integer', primary: true },
  name: { type: 'text' },
});

/** A table with one row. All jobs up to its finish number are rolled up. */
export const UsageProgressTable = defineTable<{ readonly isOnly: boolean; readonly finishNumber: string }>(
  'usage_progress',
  { isOnly: { type: 'boolean', primary: true }, finishNumber: { type: 'bigint' } },
);

export const rolledUpTo = async (unitOfWork: TypeOrmUnitOfWork): Promise<string> =>
  (await unitOfWork.repository(UsageProgressTable).findOneBy({ isOnly: true }))?.finishNumber ?? '0';

/** Returns the ids of names, and adds those that are new. */
const NAMES = `
  WITH wanted AS (SELECT DISTINCT unnest($1::text[]) AS name),
       added AS (INSERT INTO usage_names (name) SELECT name FROM wanted
                  WHERE NOT EXISTS (SELECT FROM usage_names known WHERE known.name = wanted.name) RETURNING id, name)
  SELECT id, name FROM usage_names JOIN wanted USING (name) UNION ALL SELECT id, name FROM added`;

/**
 * This SQL is written by hand, because the ORM cannot find rows by lists of several columns, and writes thousands of
 * rows several times as slowly.
 */
const FIND = `
  SELECT scope, grouped_by AS "groupedBy", bucket, start, "group", sums
    FROM json_to_recordset($1)
      AS key (scope integer, grouped_by smallint, bucket smallint, start timestamptz, "group" integer)
    JOIN usage_rollups USING (scope, grouped_by, bucket, start, "group")`;

/** Names the columns, so that columns that the next release adds get their defaults. */
const SAVE = `
  INSERT INTO usage_rollups (scope, grouped_by, bucket, start, "group", sums)
  SELECT scope, grouped_by, bucket, start, "group", sums FROM json_populate_recordset(NULL::usage_rollups, $1)
      ON CONFLICT (scope, grouped_by, bucket, start, "group") DO UPDATE SET sums = excluded.sums`;

/** Finds the number of the last end of a job or of an own call after a number, by two indexes. */
const LAST = `
  SELECT greatest((SELECT max(finish_number) FROM jobs WHERE finish_number > $1),
                  (SELECT max(finish_number) FROM own_calls WHERE finish_number > $1)) AS last`;

/** Number of rows in one statement. */
const ROWS_AT_ONCE = 500;
const CALLS_WITHOUT_PAUSE = 50;

/** The columns of a call, with the names of its fields. */
const CALL = `
  SELECT finish_number AS "finishNumber", id, team_id AS "teamId", project_id AS "projectId", model_id AS "modelId",
         requested_by AS "requestedBy", created_at AS "createdAt", finished_at AS "finishedAt", usage, cost
    FROM ${ENDED_CALLS} AS call`;

const within = ({ from, to }: UsagePiece) => And(MoreThanOrEqual(from), LessThan(to));

@injectable()
export class TypeOrmUsageRepository implements UsageRepository {
  private readonly rows = () => this.unitOfWork.repository(UsageTable);
  private readonly names = () => this.unitOfWork.repository(UsageNameTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async unrolled(): Promise<string | null> {
    const [row] = await this.unitOfWork.query<{ last: string | null }>(LAST, [await rolledUpTo(this.unitOfWork)]);
    return row?.last ?? null;
  }

  async rollUp(last: string, most: number, now: Date): Promise<boolean> {
    const after = await rolledUpTo(this.unitOfWork);
    if (BigInt(last) <= BigInt(after)) return false; // another instance was faster
    const calls = await this.calls('finish_number > $1 AND finish_number <= $2', [after, last], { order: 'ASC', most });
    await this.add(await addends(calls, now));
    const more = calls.length === most;
    const finishNumber = more ? (calls.at(-1)?.finishNumber ?? last) : last;
    await this.unitOfWork.repository(UsageProgressTable).upsert({ isOnly: true, finishNumber }, ['isOnly']);
    return more;
  }

  /** Reads roll-ups and calls in one unit of work, so that both come from the same snapshot. */
  sums(query: UsageQuery): Promise<UsageEntry[]> {
    return this.unitOfWork.run(async () => {
      const pieces = Usage.pieces(query);
      const ended = [await rolledUpTo(this.unitOfWork)];
      const fresh = await this.calls('finish_number > $1', ended, { order: 'DESC', most: MOST_ENTRIES });
      const calls: EndedCall[] = [];
      const parts: UsagePart[] = [];
      for (const piece of pieces) {
        if (piece.of === 'call')
          calls.push(...(await this.calls('finished_at >= $1 AND finished_at < $2', [piece.from, piece.to])));
        else {
          calls.push(...fresh.filter(({ finishedAt }) => finishedAt >= piece.from && finishedAt < piece.to));
          parts.push(...(await this.rolledUp(query, piece, piece.of)));
        }
      }
      const { scope, projects = null } = query;
      const inScope = calls.filter(
        (call) => Usage.scopesOf(call).includes(scope) && (!projects || projects.includes(call.projectId ?? '')),
      );
      for (const call of inScope)
        parts.push({ ...Usage.of(call), start: call.finishedAt, group: Usage.groupOf(call, query.groupBy) });
      return Usage.entries(parts, query.bucket);
    });
  }

  async size(query: UsageQuery): Promise<number> {
    let size = 0;
    const place = await this.placeOf(query);
    for (const piece of Usage.pieces(query)) {
      if (piece.of === 'call' || !place) continue;
      const where = { ...place, ...whereOf(piece, piece.of) };
      const rows = this.rows().manager.createQueryBuilder().select('count(*)::integer', 'count');
      rows.from((some) => {
        const all = some.select('row.start').from(UsageTable, 'row').where(where);
        return all.limit(piece.of === query.bucket ? MOST_ENTRIES : undefined);
      }, 'rows');
      size += (await rows.getRawOne()).count;
    }
    return size;
  }

  /** Reads calls of callers and of the service itself, in the order in which they ended. */
  private calls(
    where: string,
    values: readonly unknown[],
    { order, most = null }: { readonly order: 'ASC' | 'DESC'; readonly most?: number | null } = { order: 'ASC' },
  ): Promise<(EndedCall & { finishNumber: string })[]> {
    const text = `${CALL} WHERE ${where} ORDER BY finish_number ${order} LIMIT ${most ?? 'ALL'}`;
    return this.unitOfWork.query(text, values);
  }

  private async rolledUp(query: UsageQuery, piece: UsagePiece, of: UsageBucket): Promise<UsagePart[]> {
    const place = await this.placeOf(query);
    if (!place) return [];
    const rows = this.rows().createQueryBuilder('row').select('row.start', 'start').addSelect('row.group', 'group');
    rows.addSelect('row.sums', 'sums').where({ ...place, ...whereOf(piece, of) });
    rows.orderBy('row.start', 'DESC').addOrderBy('row.group', 'DESC');
    if (of === query.bucket) rows.limit(MOST_ENTRIES);
    const found = await rows.getRawMany<Pick<UsageRow, 'start' | 'group' | 'sums'>>();
    const ids = [...new Set(found.map(({ group }) => group))];
    const names = new Map((await this.names().findBy({ id: In(ids) })).map(({ id, name }) => [id, name]));
    const groupOf = (group: number) => (query.groupBy === null ? null : names.get(group) || null);
    return found.map(({ start, group, sums }) => ({ ...usageOf(sums), start, group: groupOf(group) }));
  }

  /** Finds the rows of a query in all times. The rows of some projects are those that are grouped by project. */
  private async placeOf({ scope, groupBy, projects = null }: UsageQuery): Promise<FindOptionsWhere<UsageRow> | null> {
    const found = await this.names().findOneBy({ name: scope ?? '' });
    if (!found) return null;
    if (!projects) return { scope: found.id, groupedBy: groupCode(groupBy) };
    const groups = await this.names().findBy({ name: In([...projects]) });
    return { scope: found.id, groupedBy: groupCode('project'), group: In(groups.map(({ id }) => id)) };
  }

  private async add(added: readonly (Key & { usage: Usage })[]): Promise<void> {
    const texts = new Set(added.flatMap(({ scope, group }) => [scope, group]));
    const names = await this.unitOfWork.query<{ id: number; name: string }>(NAMES, [[...texts]]);
    const ids = new Map(names.map(({ id, name }) => [name, id]));
    for (let at = 0; at < added.length; at += ROWS_AT_ONCE) {
      const part = added.slice(at, at + ROWS_AT_ONCE).map(({ usage, scope, group, groupBy, bucket, start }) => ({
        usage,
        key: {
          start,
          scope: ids.get(scope) as number,
          group: ids.get(group) as number,
          grouped_by: groupCode(groupBy),
          bucket: usageBuckets.indexOf(bucket),
        },
      }));
      const found = await this.unitOfWork.query<UsageRow>(FIND, [JSON.stringify(part.map(({ key }) => key))]);
      const known = new Map(
        found.map(({ groupedBy, ...row }) => [rowText({ ...row, grouped_by: groupedBy }), row.sums]),
      );
      const rows = part.map(({ key, usage }) => {
        const before = known.get(rowText(key));
        return { ...key, sums: storedOf(before ? Usage.sum([usageOf(before), usage]) : usage) };
      });
      await this.unitOfWork.query(SAVE, [JSON.stringify(rows)]);
    }
  }
}

const groupCode = (groupBy: UsageGroup | null): number => (groupBy === null ? 0 : 1 + usageGroups.indexOf(groupBy));

const whereOf = (piece: UsagePiece, of: UsageBucket): FindOptionsWhere<UsageRow> => ({
  bucket: usageBuckets.indexOf(of),
  start: within(piece),
});

const rowText = (row: { scope: number; grouped_by: number; bucket: number; start: Date; group: number }): string =>
  `${row.scope} ${row.grouped_by} ${row.bucket} ${row.start.getTime()} ${row.group}`;

const textOf = ({ scope, groupBy, bucket, start, group }: Key): string =>
  `${scope} ${groupBy} ${bucket} ${start.getTime()} ${group}`;

/** Returns the usage that the calls add to each row. Pauses regularly, so that other work can run. */
async function addends(calls: readonly EndedCall[], now: Date): Promise<(Key & { usage: Usage })[]> {
  const parts = new Map<string, { key: Key; usages: Usage[] }>();
  for (const [number, call] of calls.entries()) {
    if (number % CALLS_WITHOUT_PAUSE === 0) await setImmediate();
    const usage = Usage.of(call);
    for (const key of keysOf(call, now)) {
      const text = textOf(key);
      const known = parts.get(text);
      if (known) known.usages.push(usage);
      else parts.set(text, { key, usages: [usage] });
    }
  }
  return [...parts.values()].map(({ key, usages }) => ({ ...key, usage: Usage.sum(usages) }));
}

function keysOf(call: EndedCall, now: Date): Key[] {
  const keys: Key[] = [];
  for (const bucket of usageBuckets) {
    if (!Usage.isKept(bucket, call.finishedAt, now)) continue;
    const start = Usage.start(call.finishedAt, bucket);
    for (const groupBy of [null, ...usageGroups]) {
      const group = Usage.groupOf(call, groupBy) ?? '';
      for (const scope of Usage.scopesOf(call)) keys.push({ scope: scope ?? '', groupBy, bucket, start, group });
    }
  }
  return keys;
}
