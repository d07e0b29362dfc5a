import { createMigrationSource } from './data-source.js';
import { migrateWorkQueue } from './queue/migrate-work-queue.js';

/** Any number that nothing else on the database uses for an advisory lock: "tenon" in ASCII. */
export const MIGRATION_LOCK = 0x74656e6f6en.toString();

/**
 * Brings the database's tables up to date, and answers what it took. Of several processes that start at once, one does it
 * and the others wait.
 */
export async function migrate(url: string): Promise<string[]> {
  const source = await createMigrationSource(url).initialize();
  const guard = source.createQueryRunner();
  try {
    // The ORM knows no advisory locks.
    await guard.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const done = await source.runMigrations({ transaction: 'each' });
    await migrateWorkQueue(source);
    await guard.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    return done.map(({ name }) => name);
  } finally {
    await guard.release();
    await source.destroy();
  }
}
