import { randomBytes } from 'node:crypto';
import { Pool, type PoolClient } from 'pg';
import { PATIENCE_MS } from './until.js';

export interface TestDatabase {
  readonly url: string;
  /** Drops the database, also if somebody is still connected. */
  drop(): Promise<void>;
}

/** The key of an advisory lock that nothing else takes on the server. */
const TEMPLATE_LOCK = 7_305_002;

/** Creates a database on the server of this test run. It has the service's tables if `migrated`. */
export async function freshDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const name = `tenon_test_${randomBytes(8).toString('hex')}`;
  await onServer(async (server) => {
    const template = migrated ? await templateOf(server) : 'template0';
    await server.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
    // No database of the tests has to outlive a crash of the server.
    await server.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
  });
  const url = urlOf(name);
  return { url, drop: () => abandon(url, name) };
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** Drops a database without waiting for queries that hang. */
async function abandon(url: string, name: string): Promise<void> {
  pools
    .get(url)
    ?.end()
    .catch(() => undefined);
  pools.delete(url);
  await onServer((server) => dropDatabase(server, name));
}

/** Ends the remaining connections. Retries while autovacuum, which tests may not end, uses the database. */
async function dropDatabase(server: PoolClient, name: string): Promise<void> {
  for (const until = Date.now() + PATIENCE_MS; ; ) {
    try {
      await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE || Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Runs `sql` on a connection that nobody else uses meanwhile. */
export const query = async <Row extends object>(url: string, sql: string, values: unknown[] = []): Promise<Row[]> =>
  (await poolOf(url).query<Row>(sql, values)).rows;

/** Adds copies of the row with this id. Their ids, and their texts in the other columns, end with a number. */
export async function copyRow(url: string, table: string, id: string, copies: number, others: string[] = []) {
  const changed = ['id', ...others].map(
    (column) => `'${column}', left(${column}, -8) || 'ffff' || lpad(n::text, 4, '0')`,
  );
  await query(
    url,
    `INSERT INTO ${table} SELECT (jsonb_populate_record(original, jsonb_build_object(${changed}))).*
       FROM ${table} original, generate_series(1, $2) n WHERE id = $1`,
    [id, copies],
  );
}

/** Returns the template of all databases. The first caller in a test run creates and migrates it. */
async function templateOf(server: PoolClient): Promise<string> {
  const template = required('TENON_TEST_TEMPLATE');
  await server.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    const { rowCount } = await server.query('SELECT FROM pg_database WHERE datname = $1', [template]);
    if (rowCount) return template;
    const unfinished = `${template}_unfinished`;
    await server.query(`DROP DATABASE IF EXISTS ${unfinished}`);
    await server.query(`CREATE DATABASE ${unfinished} TEMPLATE template0`);
    const { migrate } = await import('../../src/infrastructure/typeorm/migrate.js');
    await migrate(urlOf(unfinished));
    await server.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`);
    return template;
  } finally {
    await server.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
}

async function onServer<T>(work: (server: PoolClient) => Promise<T>): Promise<T> {
  const server = await poolOf(required('TENON_TEST_DATABASE_URL')).connect();
  try {
    return await work(server);
  } finally {
    server.release();
  }
}

/** Keeps the connections of a test file for a while, because new ones are slow. */
const pools = new Map<string, Pool>();

function poolOf(url: string): Pool {
  const known = pools.get(url);
  if (known) return known;
  const pool = new Pool({ connectionString: url, max: 50, idleTimeoutMillis: 2_000, allowExitOnIdle: true });
  pool.on('error', () => undefined); // The server has ended it while it was idle.
  pools.set(url, pool);
  return pool;
}

/**
 * Sets longer timeouts of statements in the URL, for a machine under load. `CutOffProxy` removes them for tests of the
 * service's own timeouts.
 */
export const PATIENT = { statement_timeout: '25000', query_timeout: '26000' };

function urlOf(name: string): string {
  const url = new URL(required('TENON_TEST_DATABASE_URL'));
  url.pathname = `/${name}`;
  for (const [limit, ms] of Object.entries(PATIENT)) url.searchParams.set(limit, ms);
  return url.href;
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing: tests/support/global-setup.cjs sets it`);
  return value;
}
