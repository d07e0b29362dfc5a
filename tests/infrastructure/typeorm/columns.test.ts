import {
  createDataSource,
  createMigrationSource,
  type DataSource,
  migrationNames,
} from '../../../src/infrastructure/typeorm/data-source.js';
import { migrate, migrateWorkQueue } from '../../../src/infrastructure/typeorm/migrate.js';
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

const TASKS = `
  SELECT identifier AS task, queue_name AS queue, payload FROM graphile_worker._private_jobs job
    JOIN graphile_worker._private_tasks task ON task.id = job.task_id
    LEFT JOIN graphile_worker._private_job_queues queue ON queue.id = job.job_queue_id ORDER BY job.id`;

it('turns the waiting announcements of an earlier version into tasks of AlertAnnouncer', async () => {
  const { url, drop } = await freshDatabase({ migrated: false });
  const earlier = migrationNames.slice(0, migrationNames.indexOf('AnnouncedAlerts1765411200000'));
  const source = await createMigrationSource(url, earlier).initialize();
  await migrateWorkQueue(source);
  await source.runMigrations({ transaction: 'each' });
  await source.destroy();
  const add = (task: string, payload: object) =>
    query(url, 'SELECT graphile_worker.add_job($1, $2::json)', [task, JSON.stringify({ payload, maxAttempts: 9 })]);
  await add('mail', { id: 'msg_1' });
  await add('spread alerts', { webhookIds: ['whk_1', 'whk_2'], alertIds: ['alr_1', 'alr_2'] });
  await add('post alert', { webhookId: 'whk_1', alertId: 'alr_3' });
  await add('post to alertmanager', { alertIds: ['alr_4'] });
  await add('post to alertmanager', { alertIds: null });
  await add('post to slack', { alertIds: ['alr_5'], acknowledged: true });
  await migrate(url);
  const announced = (queue: string | null, maxAttempts: number, payload: object) => {
    return { task: 'announce alerts', queue, payload: { maxAttempts, payload } };
  };
  const fired = { notifier: 'webhook', event: 'fired' };
  expect(await query(url, TASKS)).toEqual([
    { task: 'mail', queue: null, payload: { payload: { id: 'msg_1' }, maxAttempts: 9 } },
    announced(null, 15, { ...fired, receivers: ['whk_1', 'whk_2'], alertIds: ['alr_1', 'alr_2'] }),
    announced('webhook whk_1', 15, { ...fired, receivers: ['whk_1'], alertIds: ['alr_3'] }),
    announced('alertmanager alertmanager', 60, {
      notifier: 'alertmanager',
      event: 'fired',
      receivers: ['alertmanager'],
      alertIds: ['alr_4'],
    }),
    announced('slack slack', 150, {
      notifier: 'slack',
      event: 'acknowledged',
      receivers: ['slack'],
      alertIds: ['alr_5'],
    }),
  ]);
  await drop();
});
