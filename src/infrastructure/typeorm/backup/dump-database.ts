import type { Stream } from 'node:stream';
import { Client, type ClientBase, escapeIdentifier } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Section } from '../../backup/backup-file.js';

/** Begins a transaction with one snapshot. Values have a fixed format in it, independent of the server's settings. */
const BEGIN = `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '30s';
  SET LOCAL datestyle = 'ISO'; SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 3; SET LOCAL bytea_output = 'hex'`;

/**
 * Lists the tables to dump. Leaves out `migrations`, because the header of the section `database` names the migrations.
 * Leaves out `task_workers`, because it only describes running instances, and unlogged tables, such as `instances`,
 * because they only have what is not worth keeping.
 */
const TABLES = `
  SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
         ARRAY(SELECT DISTINCT t.relname::text FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
                WHERE f.contype = 'f' AND f.conrelid = c.oid AND f.confrelid <> c.oid) AS refers
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relpersistence <> 'u'
     AND c.relname NOT IN ('migrations', 'task_workers')
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
   GROUP BY c.oid, c.relname ORDER BY c.relname`;

const SEQUENCES = `
  SELECT sequencename AS name, last_value::text AS value FROM pg_sequences
   WHERE schemaname = 'public' AND last_value IS NOT NULL AND sequencename NOT LIKE 'migrations%'`;

export const QUEUE = 'graphile_worker._private_jobs';

const TASK_COLUMNS = ['identifier', 'payload', 'run_at', 'max_attempts', 'key', 'priority', 'attempts', 'queue_name'];

/** Lists waiting and running tasks. The current attempt of a running task does not count after a restoration. */
const TASKS = `
  SELECT t.identifier, j.payload, j.run_at, j.max_attempts, j.key, j.priority,
         greatest(j.attempts - (j.locked_at IS NOT NULL)::integer, 0), q.queue_name
    FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id
         LEFT JOIN graphile_worker._private_job_queues q ON q.id = j.job_queue_id
   ORDER BY j.id`;

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly refers: readonly string[];
}

/** Dumps a database in one snapshot. Instances may write at the same time. */
export async function* dumpDatabase(url: string): AsyncGenerator<Section> {
  const client = new Client({ connectionString: url, application_name: 'tenon backup' });
  client.on('error', () => {}); // the running query fails as well
  try {
    await client.connect();
    await client.query(BEGIN);
    const copied = (source: string): AsyncIterable<Buffer> =>
      client.query(withoutTimeLimit(copyTo(`COPY ${source} TO STDOUT`)));
    yield { header: { kind: 'database', migrations: await migrationsOf(client) } };
    const { rows: tables } = await client.query<Table>(TABLES);
    const names = tables.map(({ name }) => escapeIdentifier(name));
    await client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE`);
    for (const { name, columns } of referredFirst(tables)) {
      const list = columns.map(escapeIdentifier).join(', ');
      const chunks = copied(`public.${escapeIdentifier(name)} (${list})`);
      yield { header: { kind: 'table', name, columns }, chunks };
    }
    const { rows: sequences } = await client.query<{ name: string; value: string }>(SEQUENCES);
    for (const sequence of sequences) yield { header: { kind: 'sequence', ...sequence } };
    if (await hasTable(client, QUEUE)) {
      yield { header: { kind: 'tasks', columns: TASK_COLUMNS }, chunks: copied(`(${TASKS})`) };
    }
  } finally {
    await client.end().catch(() => {});
  }
}

async function migrationsOf(client: Client): Promise<string[]> {
  if (!(await hasTable(client, 'public.migrations')))
    throw new Error('the database has no tables of the service, so there is nothing to back up');
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY id');
  return rows.map(({ name }) => name);
}

export async function hasTable(client: ClientBase, table: string): Promise<boolean> {
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS found', [table]);
  return rows[0].found;
}

/** Sorts each table after all tables that it refers to. Throws if tables refer to each other in a circle. */
function referredFirst(all: readonly Table[]): Table[] {
  const sorted: Table[] = [];
  for (let left = [...all]; left.length > 0; ) {
    const waiting = new Set(left.map(({ name }) => name));
    const free = left.filter(({ refers }) => !refers.some((name) => waiting.has(name)));
    if (free.length === 0) throw new Error(`tables refer to each other in a circle: ${[...waiting].join(', ')}`);
    sorted.push(...free);
    left = left.filter((table) => !free.includes(table));
  }
  return sorted;
}

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** Gives a COPY the longest possible time limit. Clears its timer at the end, because pg does not do so for a COPY. */
export function withoutTimeLimit<T extends Stream>(copy: T): T {
  const query: T & { query_timeout?: number; callback?: () => void } = copy;
  query.query_timeout = LONGEST_MS;
  query.once('close', () => query.callback?.());
  return copy;
}
