import { createMigrationSource, migrationNames } from '../../src/infrastructure/typeorm/data-source.js';
import { migrateWorkQueue } from '../../src/infrastructure/typeorm/migrate.js';
import { freshDatabase, type TestDatabase } from './database.js';

/** Creates a database with the tables of the version before the migration. */
export async function databaseBefore(migration: string): Promise<TestDatabase> {
  const database = await freshDatabase({ migrated: false });
  const earlier = migrationNames.slice(0, migrationNames.indexOf(migration));
  const source = await createMigrationSource(database.url, earlier).initialize();
  await migrateWorkQueue(source);
  await source.runMigrations({ transaction: 'each' });
  await source.destroy();
  return database;
}
