import { createMigrationSource, migrationNames } from '../../src/infrastructure/typeorm/data-source.js';
import { migrateWorkQueue } from '../../src/infrastructure/typeorm/migrate.js';
import { freshDatabase, type TestDatabase } from './database.js';

/** Creates a database with the tables of the version before the migration. */
export async function databaseBefore(migration: string): Promise<TestDatabase> {
  const database = await freshDatabase({ migrated: false });
  await migrateBefore(database.url, migration);
  return database;
}

/** Creates a database with the tables of the version that ends with the migration. */
export async function databaseThrough(migration: string): Promise<TestDatabase> {
  const database = await freshDatabase({ migrated: false });
  await migrateThrough(database.url, migration);
  return database;
}

/** Creates the tables of the version before the migration in an empty database. */
export const migrateBefore = (url: string, migration: string): Promise<void> =>
  migrateWith(url, migrationNames.slice(0, migrationNames.indexOf(migration)));

/** Creates the tables of the version that ends with the migration in an empty database. */
const migrateThrough = (url: string, migration: string): Promise<void> =>
  migrateWith(url, migrationNames.slice(0, migrationNames.indexOf(migration) + 1));

async function migrateWith(url: string, names: readonly string[]): Promise<void> {
  const source = await createMigrationSource(url, names).initialize();
  await migrateWorkQueue(source);
  await source.runMigrations({ transaction: 'each' });
  await source.destroy();
}
