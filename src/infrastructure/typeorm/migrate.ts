import { Logger, runMigrations } from 'graphile-worker';
import { type DataSource, MigrationExecutor } from 'typeorm';
import { InstanceOutdated } from '../../domain/shared/errors.js';
import { createMigrationSource, migrationNames } from './data-source.js';
import { isMissingTable } from './storage-errors.js';
import { poolOf } from './typeorm-unit-of-work.js';

/** The key of the advisory lock for migrations: "tenon" in ASCII. */
export const MIGRATION_LOCK = 0x74656e6f6en.toString();

/**
 * Returns the names of the migrations that are done. Throws InstanceOutdated if this version does not know all of them.
 * Reads the table itself, because the ORM's `showMigrations` leaks its connection when it fails.
 */
export async function migrationsDone(source: DataSource): Promise<string[]> {
  const rows = source.createQueryBuilder().select('name').from('migrations', 'done').getRawMany<{ name: string }>();
  const names = (await rows.catch(noneWithoutTable)).map(({ name }) => name);
  const unknown = names.filter((name) => !migrationNames.includes(name));
  if (unknown.length > 0) throw new InstanceOutdated(unknown);
  return names;
}

function noneWithoutTable(error: unknown): [] {
  if (isMissingTable(error)) return [];
  throw error;
}

/**
 * Runs the pending migrations and returns their names. Instances that start at the same time wait for each other.
 * Throws InstanceOutdated if a newer version has migrated the database.
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
    executor.transaction = 'each';
    const done = await executor.executePendingMigrations();
    return done.map(({ name }) => name);
  } finally {
    await runner.release();
    await source.destroy();
  }
}

const silent = new Logger(() => () => undefined);

/** Migrates graphile-worker's tables, which have a schema of their own. Only one process may do this at a time. */
export const migrateWorkQueue = (source: DataSource): Promise<void> =>
  runMigrations({ pgPool: poolOf(source), logger: silent });
