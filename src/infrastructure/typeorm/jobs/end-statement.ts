import { FINISHING } from '../../../application/jobs/job-finisher.js';
import type { CallEnd } from '../../../application/jobs/ports.js';
import type { FinishedJob, Job } from '../../../domain/jobs/job.js';
import { KeptParts } from '../record/kept-parts.js';
import {
  amountsJson,
  NOT_DURABLE,
  scopesOf,
  TAKEN,
  type TakenRow,
  type Taking,
  takingValues,
} from '../spend/taking.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type JobRow, JobTable } from './job.repository.js';

/** The end of a call. */
export interface End extends CallEnd {
  readonly job: Job & FinishedJob;
}

/** Ends and beginnings of calls of a team that share a statement. */
export interface Together {
  /** All have a charge, or none has. */
  readonly ends: readonly End[];
  /** Calls that take their holds after the ends have settled theirs. They have the same `takingKey`. */
  readonly takings?: readonly Taking[];
}

export interface EndOptions {
  readonly durable: boolean;
  /** True: the ends are only stored if there is no alert rule. Then the lock `FINISHING` is held in the mode `shared`. */
  readonly withoutRules: boolean;
}

/** Selects the parts of the statement. */
interface Parts {
  readonly settles: boolean;
  readonly keeps: boolean;
  readonly takes: boolean;
}

const NO_RULE = `no_alert_rule('${FINISHING}')`;

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

/**
 * Returns a query for the ends of stored jobs, in the form that `settle_holds` takes. The first parameter after `last` has
 * the amounts that the calls have taken. The second one tells for each call whether it has holds.
 */
const charges = (last: number) => `
  SELECT array_agg(id) AS ids, jsonb_agg(jsonb_build_object(
           'id', id, 'taken', taken, 'is_held', is_held, 'at', created_at,
           'scopes', ARRAY[team_id, project_id, requested_by, usage->>'keyId'])) AS ends, min(team_id) AS team
    FROM stored JOIN unnest($1::text[], $${last + 1}::jsonb[], $${last + 2}::boolean[]) AS charge (id, taken, is_held) USING (id)`;

/**
 * Returns a query that settles the holds of the ended calls, and then takes the holds of other calls. It has a row for
 * each call that takes holds. After the parameters of `charges` come all scopes, and then `takingValues`.
 *
 * `settle_and_take` locks the periods of all these scopes first, in the order of the budgets. So no two statements wait
 * for each other in a circle.
 */
const settledAndTaken = (last: number) => {
  const [all, ...values] = Array.from({ length: 6 }, (_, at) => `$${last + 3 + at}`);
  return `SELECT ids, ${TAKEN} FROM (${charges(last)}) AS ended, settle_and_take(ends, ${all}, ${values}) AS taken`;
};

/** Returns the part of the statement that gives its result. */
function resultOf({ settles, takes }: Parts, last: number): string {
  if (takes) return settledAndTaken(last);
  if (settles) return `SELECT ids, settle_holds(team, ends) FROM (${charges(last)}) AS ended`;
  return 'SELECT array_agg(id) AS ids FROM stored';
}

/** Stores the ends of calls. The same statement does everything that ends a call, for many calls at once. */
export class EndStatement {
  /** Every call needs a text, so each is built only once. */
  private readonly texts = new Map<string, string>();

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** Returns the ids of the jobs that are stored, and a row for each of the takings. */
  async run({ ends, takings = [] }: Together, options: EndOptions): Promise<{ ids: Set<string>; taken: TakenRow[] }> {
    const charged = ends.flatMap(({ charge }) => charge ?? []);
    const parts = { settles: charged.length > 0, keeps: ends.some(({ kept }) => kept), takes: takings.length > 0 };
    const name = `end of jobs ${[...Object.values(options), ...Object.values(parts)].map(Number)}`;
    const text = this.texts.get(name) ?? this.text(options, parts);
    this.texts.set(name, text);
    const { driver } = this.unitOfWork.repository(JobTable).manager.dataSource;
    const values: unknown[] = this.columns().map((column) =>
      ends.map(({ job }) => driver.preparePersistentValue(column.getEntityValue(job), column)),
    );
    if (parts.keeps) values.push(...KeptParts.values(ends.map(({ kept = null }) => kept)));
    if (parts.settles) {
      values.push(charged.map(({ taken }) => amountsJson(taken)));
      values.push(charged.map(({ isHeld }) => isHeld));
    }
    if (parts.takes) values.push(allScopes(ends, takings), ...takingValues(takings));
    const rows = await this.unitOfWork.prepared<TakenRow & { ids: string[] | null }>(name, text, values);
    return { ids: new Set(rows[0]?.ids), taken: parts.takes ? rows : [] };
  }

  /**
   * Returns the SQL with which every call ends. It is written by hand, because the ORM can neither prepare it nor insert
   * on a condition. The names and types of the columns come from the table.
   */
  private text({ durable, withoutRules }: EndOptions, parts: Parts): string {
    const { keeps } = parts;
    const columns = this.columns();
    const last = columns.length + (keeps ? KeptParts.values([]).length : 0);
    const ended = columns.filter(({ propertyName }) => ENDED.includes(propertyName));
    return `
      WITH stored AS (
        INSERT INTO jobs (finish_number, ${columns.map(({ databaseName }) => databaseName)})
        SELECT nextval('job_finish_numbers'), job.*
          FROM unnest(${columns.map(({ type }, at) => `$${at + 1}::${type}[]`)}) AS job WHERE (SELECT ${withoutRules ? NO_RULE : 'true'})
            ON CONFLICT (id) DO UPDATE
           SET finish_number = excluded.finish_number,
               ${ended.map(({ databaseName }) => `${databaseName} = excluded.${databaseName}`)}
         WHERE jobs.finish_number IS NULL
        RETURNING jobs.*${durable ? '' : `, ${NOT_DURABLE}`})${keeps ? `, ${KeptParts.sql(columns.length)}` : ''}
      ${resultOf(parts, last)}`;
  }

  private columns() {
    return this.unitOfWork
      .repository(JobTable)
      .metadata.columns.filter(({ propertyName }) => propertyName !== 'finishNumber');
  }
}

function allScopes(ends: readonly End[], takings: readonly Taking[]): string[] {
  const ended = ends.flatMap(({ job }) => [job.teamId, job.projectId, job.requestedBy, job.usage?.keyId]);
  const scopes = [...ended, ...takings.flatMap(({ spender }) => scopesOf(spender))];
  return [...new Set(scopes.filter((id) => typeof id === 'string'))];
}
