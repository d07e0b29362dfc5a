import { setTimeout as delay } from 'node:timers/promises';
import { Logger, runMigrations } from 'graphile-worker';
import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import { createMigrationSource, migrationNames } from './data-source.js';
import { addReleaseMarks, markRelease, requireWorksWith } from './releases.js';
import { isLockTimeout, isMissingTable, wasRolledBack } from './storage-errors.js';
import { poolOf } from './typeorm-unit-of-work.js';

/** The key of the advisory lock for migrations: "tenon" in ASCII. */
export const MIGRATION_LOCK = 0x74656e6f6en.toString();

/**
 * Returns the names of the migrations that are done. Throws InstanceOutdated if they are of a release that is too new for
 * this program. Reads the table itself, because the ORM's `showMigrations` leaks its connection when it fails.
 */
export async function migrationsDone(source: DataSource): Promise<string[]> {
  const rows = source.createQueryBuilder().select('name').from('migrations', 'done').getRawMany<{ name: string }>();
  const names = (await rows.catch(noneWithoutTable)).map(({ name }) => name);
  const unknown = names.filter((name) => !migrationNames.includes(name));
  await requireWorksWith(source, unknown);
  return names;
}

function noneWithoutTable(error: unknown): [] {
  if (isMissingTable(error)) return [];
  throw error;
}

/**
 * Runs the pending migrations and returns their names. Instances that start at the same time wait for each other.
 * Throws InstanceOutdated if the database is of a release that is too new for this program.
 */
export async function migrate(url: string): Promise<string[]> {
  const source = await createMigrationSource(url).initialize();
  const runner = source.createQueryRunner();
  try {
    // The ORM has no advisory locks. The connection that migrates holds the lock: the server keeps both until the last
    // statement of a killed process has ended, also if that is a commit.
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await migrationsDone(source);
    await migrateWorkQueue(source);
    const executor = new MigrationExecutor(source, runner);
    const pending = await executor.getPendingMigrations();
    if (pending.length > 0) await addReleaseMarks(runner);
    for (const migration of pending) await runStep(executor, runner, migration);
    return pending.map(({ name }) => name);
  } finally {
    await runner.release();
    await source.destroy();
  }
}

/**
 * The longest wait of a step for the lock of a table. Calls of the instances that serve meanwhile wait behind the step,
 * so its wait must be shorter than their `statement_timeout`.
 */
const LOCK_TIMEOUT_MS = 1_000;
const RETRY_DELAY_MS = 1_000;
/** A backup reads all tables in one transaction, so it may hold their locks for minutes. */
const ATTEMPTS = 900;

/** Runs a migration and marks it, in one transaction. Tries again while others use its tables for long. */
async function runStep(executor: MigrationExecutor, runner: QueryRunner, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await runner.startTransaction();
    try {
      await runner.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await markRelease(runner, [migration.name]);
      await executor.executeMigration(migration);
      await runner.query('SET LOCAL lock_timeout = 0'); // for the commit
      await runner.commitTransaction();
      return;
    } catch (error) {
      await runner.rollbackTransaction().catch(() => undefined); // the connection may be broken
      const lostToOthers = isLockTimeout(error) || wasRolledBack(error);
      if (!lostToOthers || attempt === ATTEMPTS) throw error;
      await delay(RETRY_DELAY_MS);
    }
  }
}

const silent = new Logger(() => () => undefined);

/** Migrates graphile-worker's tables, which have a schema of their own. Only one process may do this at a time. */
export const migrateWorkQueue = (source: DataSource): Promise<void> =>
  runMigrations({ pgPool: poolOf(source), logger: silent });
