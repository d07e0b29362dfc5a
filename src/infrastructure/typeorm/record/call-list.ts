import type { CallFilter } from '../../../application/record/ports.js';
import type { Page } from '../../../application/shared/ports.js';
import { CallPlace } from '../../../domain/record/call-place.js';
import { storable } from '../../../domain/shared/text.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type Look, looks } from './call-search.js';

/** A call without its content. */
interface Listed extends CallPlace {
  readonly storedBytes: number;
}

/** What a search needs to know before it looks for calls. */
interface Start {
  /** The seconds of the oldest and the newest call. */
  readonly oldest: number | null;
  readonly newest: number | null;
  /** The words as a tsquery. Empty: the text has no words. */
  readonly words: string;
}

const START = `
  SELECT floor(extract(epoch FROM min(created_at)))::float8 AS oldest,
         floor(extract(epoch FROM max(created_at)))::float8 AS newest, plainto_tsquery('simple', $2)::text AS words
    FROM calls WHERE project_id = $1`;

/** The columns that the conditions need. */
const COLUMNS = [
  ...['id', 'project_id', 'created_at', 'stored_bytes', 'expires_at', 'model_id', 'key_id', 'account_id', 'status'],
];

/** The values of a statement. */
class Values {
  readonly all: unknown[] = [];

  /** Returns the placeholder of a value. */
  readonly add = (value: unknown): string => `$${this.all.push(value)}`;
}

/**
 * Lists calls. This SQL is written by hand, because each filter must lead to the index that has its order, also where
 * statistics would mislead.
 */
export class CallList {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** Returns a part of the calls that match and have not expired, the newest first. */
  async part(filter: CallFilter, page: Page, now: Date): Promise<Listed[]> {
    const after = page.after === null ? null : CallPlace.of(page.after);
    if (filter.q !== null) return this.searched({ ...filter, q: filter.q }, { ...page, after }, now);
    const values = new Values();
    const marked = filter.score !== null || filter.label !== null;
    const text = marked ? ofFeedback(filter, after, now, values) : ofCalls('calls', filter, after, now, values);
    return this.unitOfWork.query<Listed>(`${text} LIMIT ${values.add(page.limit)}`, values.all);
  }

  private async searched(
    filter: CallFilter & { readonly q: string },
    { after, limit }: { readonly after: CallPlace | null; readonly limit: number },
    now: Date,
  ): Promise<Listed[]> {
    const [start] = await this.unitOfWork.query<Start>(START, [filter.projectId, storable(filter.q).toLowerCase()]);
    if (!start || start.oldest === null || start.newest === null || start.words === '') return [];
    const seconds = (date: Date | null | undefined, otherwise: number) =>
      date ? Math.floor(date.getTime() / 1000) : otherwise;
    const from = Math.max(start.oldest, seconds(filter.since, start.oldest));
    const to = Math.min(start.newest, seconds(filter.until, start.newest), seconds(after?.createdAt, start.newest));
    const found: Listed[] = [];
    for (const look of looks(filter, from, to)) {
      found.push(...(await this.seen(look, start.words, { filter, after, now, limit: limit - found.length })));
      if (found.length === limit) break;
    }
    return found;
  }

  /** Returns the newest calls of a look. Without MATERIALIZED, PostgreSQL would read all calls in their order at times. */
  private seen(
    { before, spans }: Look,
    words: string,
    { filter, after, now, limit }: { filter: CallFilter; after: CallPlace | null; now: Date; limit: number },
  ): Promise<Listed[]> {
    const values = new Values();
    const query = `${values.add(words)}::tsquery && ${values.add(spans)}::tsquery`;
    const until = `created_at < ${values.add(new Date(before * 1000))}`;
    const listed = ofCalls('hits', filter, after, now, values, [until, ...feedbackOn('hits', filter, values)]);
    return this.unitOfWork.query<Listed>(
      `WITH hits AS MATERIALIZED (SELECT ${COLUMNS} FROM calls WHERE search @@ (${query}))
       ${listed} LIMIT ${values.add(limit)}`,
      values.all,
    );
  }
}

const FIELDS = `id, created_at AS "createdAt", stored_bytes AS "storedBytes"`;

/** Returns the SQL that lists calls in the order of an index that begins with the filtered column. */
function ofCalls(
  from: 'calls' | 'hits',
  filter: CallFilter,
  after: CallPlace | null,
  now: Date,
  values: Values,
  more: readonly string[] = [],
): string {
  const own = after ? [`(created_at, id) < (${values.add(after.createdAt)}, ${values.add(after.id)})`] : [];
  const where = [...conditions(from, filter, now, values), ...own, ...more];
  return `SELECT ${FIELDS} FROM ${from} WHERE ${where.join(' AND ')} ORDER BY created_at DESC, id DESC`;
}

/** Returns the SQL that lists calls in the order of the index of the feedback that has the score or the label. */
function ofFeedback(filter: CallFilter, after: CallPlace | null, now: Date, values: Values): string {
  const leading = filter.score === null ? 'label' : 'score';
  const own = [
    'f.is_current',
    `f.project_id = ${values.add(filter.projectId)}`,
    `f.${leading} = ${values.add(filter[leading])}`,
    ...(after ? [`(f.called_at, f.call_id) < (${values.add(after.createdAt)}, ${values.add(after.id)})`] : []),
    ...(filter.since ? [`f.called_at >= ${values.add(filter.since)}`] : []),
    ...(filter.until ? [`f.called_at < ${values.add(filter.until)}`] : []),
    ...conditions('calls', filter, now, values),
    ...(leading === 'score' ? feedbackOn('calls', { ...filter, score: null }, values) : []),
  ];
  return `
    SELECT DISTINCT ON (f.called_at, f.call_id) calls.id, f.called_at AS "createdAt", stored_bytes AS "storedBytes"
      FROM call_feedback f JOIN calls ON calls.id = f.call_id
     WHERE ${own.join(' AND ')} ORDER BY f.called_at DESC, f.call_id DESC`;
}

/** Returns the conditions of a filter, without those of words and of feedback. */
function conditions(of: string, filter: CallFilter, now: Date, values: Values): string[] {
  const { projectId, since, until, modelId, keyId, accountId, status } = filter;
  const equal = { model_id: modelId, key_id: keyId, account_id: accountId };
  return [
    `${of}.project_id = ${values.add(projectId)}`,
    `${of}.expires_at > ${values.add(now)}`,
    ...(since ? [`${of}.created_at >= ${values.add(since)}`] : []),
    ...(until ? [`${of}.created_at < ${values.add(until)}`] : []),
    ...Object.entries(equal).flatMap(([name, value]) => (value === null ? [] : `${of}.${name} = ${values.add(value)}`)),
    ...(status === null ? [] : [`${of}.status = ${values.add(status)}`]),
    // With a constant, PostgreSQL finds the index of these calls.
    ...(status === null || status === 'succeeded' ? [] : [`${of}.status <> 'succeeded'`]),
  ];
}

/** Returns a condition for the score and one for the label. Each may be in another feedback on the call. */
function feedbackOn(of: string, { score, label }: Pick<CallFilter, 'score' | 'label'>, values: Values): string[] {
  return Object.entries({ score, label }).flatMap(([name, value]) =>
    value === null
      ? []
      : `EXISTS (SELECT FROM call_feedback WHERE call_id = ${of}.id AND is_current AND ${name} = ${values.add(value)})`,
  );
}
