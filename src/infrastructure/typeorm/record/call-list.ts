import type { CallFilter } from '../../../application/record/ports.js';
import type { Page } from '../../../application/shared/ports.js';
import { CallPlace } from '../../../domain/record/call-place.js';
import { storable } from '../../../domain/shared/text.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** A call without its content. */
interface Listed extends CallPlace {
  readonly storedBytes: number;
}

/** The selection of a list. */
interface Wanted {
  readonly filter: CallFilter;
  readonly after: CallPlace | null;
  readonly limit: number;
  readonly now: Date;
  /** The tsquery that calls must match. Null: any call matches. */
  readonly words: string | null;
}

/** The values of a statement. */
class Values {
  readonly all: unknown[] = [];

  /** Returns the placeholder of a value. */
  readonly add = (value: unknown): string => `$${this.all.push(value)}`;
}

/** A score or a label that fewer feedbacks have leads to its calls faster than their words. */
const FEW = 5_000;
/** A long span with fewer calls that match is read at once. */
const FEW_IN_SPAN = 200;

const WORDS = `SELECT plainto_tsquery('simple', $1)::text AS words`;

const FIELDS = `calls.id, calls.created_at AS "createdAt", calls.stored_bytes AS "storedBytes"`;
/** The calls of a deleted account are deleted later. A subquery that returns a value never changes the order of a join. */
const HAS_ACCOUNT = '(SELECT true FROM accounts WHERE accounts.id = calls.account_id)';
const NEWEST_FIRST = 'ORDER BY calls.created_at DESC, calls.id DESC';

/**
 * Lists calls. This SQL is written by hand, because each filter must lead to an index that has its order, also where
 * statistics would mislead.
 */
export class CallList {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** Returns a part of the calls that match and have not expired, the newest first. */
  async part(filter: CallFilter, page: Page, now: Date): Promise<Listed[]> {
    const words = await this.words(filter);
    if (words === '') return [];
    const after = page.after === null ? null : CallPlace.of(page.after);
    const wanted = { filter, after, limit: page.limit, now, words };
    const { score, label } = filter;
    if (score === null && label === null) return this.rows(words === null ? inOrder(wanted) : inSpans(wanted));
    const isRare = words === null || (await this.feedbackCount(filter)) < FEW;
    return this.rows(isRare ? ofFeedback(wanted) : inSpans(wanted));
  }

  /** Returns the tsquery of a filter. Empty: it has a text without words, so nothing matches. */
  private async words({ q, ...filter }: CallFilter): Promise<string | null> {
    const marks = { m: filter.modelId, k: filter.keyId, s: filter.status };
    const own = Object.entries(marks).flatMap(([kind, id]) => (id === null ? [] : lexeme(`${kind} ${id}`)));
    // The calls of an account alone have an index with their order.
    if (filter.accountId !== null && (own.length > 0 || q !== null)) own.push(lexeme(`a ${filter.accountId}`));
    if (q !== null) {
      const [row] = await this.unitOfWork.query<{ words: string }>(WORDS, [storable(q).toLowerCase()]);
      if (!row?.words) return '';
      own.push(row.words);
    }
    return own.length > 0 ? own.join(' & ') : null;
  }

  private async feedbackCount({ projectId, score, label }: CallFilter): Promise<number> {
    const [name, value] = score === null ? ['label', label] : ['score', score];
    const some = `SELECT 1 FROM call_feedback WHERE is_current AND project_id = $1 AND ${name} = $2 LIMIT ${FEW}`;
    const text = `SELECT count(*)::integer AS count FROM (${some}) found`;
    const [row] = await this.unitOfWork.query<{ count: number }>(text, [projectId, value]);
    return row?.count ?? 0;
  }

  private rows({ text, values }: Statement): Promise<Listed[]> {
    return this.unitOfWork.query<Listed>(text, values);
  }
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Returns a text as a word of a tsquery. */
const lexeme = (text: string): string => `'${storable(text).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/** Lists calls in the order of the index of the project, or of the account. */
function inOrder({ limit, ...wanted }: Wanted): Statement {
  const values = new Values();
  const where = conditions(wanted, values).join(' AND ');
  const text = `SELECT ${FIELDS} FROM calls WHERE ${where} ${NEWEST_FIRST} LIMIT ${values.add(limit)}`;
  return { text, values: values.all };
}

/**
 * Lists calls with words or marks, one span of time after the other, from the newest on. A long span without such calls is
 * passed over, and one with few is read at once. The nested loops keep this order, and end as soon as there are enough
 * calls.
 */
function inSpans({ limit, ...wanted }: Wanted): Statement {
  const { filter, after, words } = wanted;
  const values = new Values();
  const project = `${values.add(filter.projectId)}::text`;
  const query = `${values.add(words)}::tsquery`;
  const within = (bits: number, span: string) =>
    `search @@ (${query} && ('''' || call_span(${bits}, ${span} << ${bits}, ${project}) || '''')::tsquery)`;
  const [since, until, place] = [filter.since, filter.until, after?.createdAt].map(
    (date) => `${values.add(date ? Math.floor(date.getTime() / 1000) : null)}::bigint`,
  );
  const where = [...conditions(wanted, values), ...feedbackOn(filter, values)].join(' AND ');
  const callsOf = (bits: number, span: string, condition: string) => `
    SELECT ${FIELDS} FROM calls
     WHERE ${condition} AND ${within(bits, span)} AND calls.created_at >= to_timestamp(${span} << ${bits})
       AND calls.created_at < to_timestamp((${span} + 1) << ${bits}) AND ${where} ${NEWEST_FIRST}`;
  const text = `
    WITH limits AS MATERIALIZED (
      SELECT greatest(floor(extract(epoch FROM min(created_at)))::bigint, ${since}) AS oldest,
             least(floor(extract(epoch FROM max(created_at)))::bigint, ${until}, ${place}) AS newest
        FROM calls WHERE project_id = ${project} HAVING max(created_at) IS NOT NULL)
    SELECT found.* FROM limits
     CROSS JOIN LATERAL generate_series(newest >> 17, oldest >> 17, -1) AS long
     CROSS JOIN LATERAL (SELECT CASE WHEN long = newest >> 17 THEN ${FEW_IN_SPAN} ELSE (
       SELECT count(*) FROM (SELECT 1 FROM calls WHERE ${within(17, 'long')} LIMIT ${FEW_IN_SPAN}) some_of) END AS count OFFSET 0) AS hits
     CROSS JOIN LATERAL (
       (${callsOf(17, 'long', `hits.count BETWEEN 1 AND ${FEW_IN_SPAN - 1}`)})
       UNION ALL
       (SELECT of_short.* FROM generate_series(least(newest >> 12, (long << 5) + 31), greatest(oldest >> 12, long << 5), -1) AS short
         CROSS JOIN LATERAL (${callsOf(12, 'short', 'true')}) AS of_short WHERE hits.count = ${FEW_IN_SPAN})) AS found
     LIMIT ${values.add(limit)}`;
  return { text, values: values.all };
}

/** Lists calls in the order of the index of the feedback that has the score or the label. */
function ofFeedback({ limit, ...wanted }: Wanted): Statement {
  const { filter, after, words } = wanted;
  const { since, until, score, label } = filter;
  const values = new Values();
  const where = [
    'f.is_current',
    `f.project_id = ${values.add(filter.projectId)}`,
    score === null ? `f.label = ${values.add(label)}` : `f.score = ${values.add(score)}`,
    ...(after ? [`(f.called_at, f.call_id) < (${values.add(after.createdAt)}, ${values.add(after.id)})`] : []),
    ...(since ? [`f.called_at >= ${values.add(since)}`] : []),
    ...(until ? [`f.called_at < ${values.add(until)}`] : []),
    ...conditions(wanted, values),
    ...(words === null ? [] : [`calls.search @@ ${values.add(words)}::tsquery`]),
    ...(score === null ? [] : feedbackOn({ score: null, label }, values)),
  ];
  const text = `
    SELECT DISTINCT ON (f.called_at, f.call_id) ${FIELDS} FROM call_feedback f JOIN calls ON calls.id = f.call_id
     WHERE ${where.join(' AND ')} ORDER BY f.called_at DESC, f.call_id DESC LIMIT ${values.add(limit)}`;
  return { text, values: values.all };
}

/** Returns the conditions for the columns of a call. */
function conditions({ filter, after, now }: Omit<Wanted, 'limit'>, values: Values): string[] {
  const { projectId, since, until, modelId, keyId, accountId, status } = filter;
  const equal = { project_id: projectId, model_id: modelId, key_id: keyId, account_id: accountId, status };
  return [
    `calls.expires_at > ${values.add(now)}`,
    HAS_ACCOUNT,
    ...Object.entries(equal).flatMap(([name, value]) => (value === null ? [] : `calls.${name} = ${values.add(value)}`)),
    ...(since ? [`calls.created_at >= ${values.add(since)}`] : []),
    ...(until ? [`calls.created_at < ${values.add(until)}`] : []),
    ...(after ? [`(calls.created_at, calls.id) < (${values.add(after.createdAt)}, ${values.add(after.id)})`] : []),
  ];
}

/** Returns a condition for the score and one for the label. Each may be in another feedback on the call. */
function feedbackOn({ score, label }: Pick<CallFilter, 'score' | 'label'>, values: Values): string[] {
  return Object.entries({ score, label }).flatMap(([name, value]) =>
    value === null
      ? []
      : `EXISTS (SELECT FROM call_feedback WHERE call_id = calls.id AND is_current AND ${name} = ${values.add(value)})`,
  );
}
