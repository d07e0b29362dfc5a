import { Logger, runMigrations } from 'graphile-worker';
import type { DataSource } from 'typeorm';
import { createMigrationSource } from './data-source.js';
import { poolOf } from './typeorm-unit-of-work.js';

/** The key of the advisory lock for migrations: "tenon" in ASCII. */
export const MIGRATION_LOCK = 0x74656e6f6en.toString();

/** Runs the pending migrations and returns their names. Instances that start at the same time wait for each other. */
export async function migrate(url: string): Promise<string[]> {
  const source = await createMigrationSource(url).initialize();
  const guard = source.createQueryRunner();
  try {
    // The ORM has no advisory locks. The end of the connection releases the lock.
    await guard.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await migrateWorkQueue(source);
    const done = await source.runMigrations({ transaction: 'each' });
    return done.map(({ name }) => name);
  } finally {
    await guard.release();
    await source.destroy();
  }
}

const silent = new Logger(() => () => undefined);

/** Migrates graphile-worker's tables, which have a schema of their own. Only one process may do this at a time. */
export const migrateWorkQueue = (source: DataSource): Promise<void> =>
  runMigrations({ pgPool: poolOf(source), logger: silent });
