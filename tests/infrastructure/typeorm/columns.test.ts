import { createDataSource, type DataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { freshDatabase, query, type TestDatabase } from '../../support/database.js';

/** Lists the tables and columns that no repository maps. */
const UNMAPPED = ['dataset_contents', 'dataset_versions.content_version', 'migrations'];

describe('the columns that the repositories map', () => {
  let database: TestDatabase;
  let source: DataSource;
  beforeAll(async () => {
    database = await freshDatabase();
    source = await createDataSource(database.url).initialize();
  });
  afterAll(async () => {
    await source.destroy();
    await database.drop();
  });

  const described = (table: string, column: string, nullable: boolean) =>
    `${table}.${column}${nullable ? ' or null' : ''}`;

  it('are those of the migrated database', async () => {
    const found = await query<{ table: string; column: string; nullable: boolean }>(
      database.url,
      `SELECT table_name AS table, column_name AS column, is_nullable = 'YES' AS nullable FROM information_schema.columns
        WHERE table_schema = 'public'`,
    );
    const mapped = source.entityMetadatas
      .filter(({ schema }) => !schema)
      .flatMap(({ tableName, columns }) =>
        columns.map(({ databaseName, isNullable }) => described(tableName, databaseName, isNullable)),
      );
    const migrated = found
      .map((one) => described(one.table, one.column, one.nullable))
      .filter((name) => {
        return mapped.includes(name) || !UNMAPPED.some((one) => name === one || name.startsWith(`${one}.`));
      });
    expect(mapped.sort()).toEqual(migrated.sort());
  });
});
