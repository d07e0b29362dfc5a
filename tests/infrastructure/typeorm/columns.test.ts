import { Client } from 'pg';
import { Histogram } from '../../../src/domain/jobs/usage.js';
import { createDataSource, type DataSource, migrationNames } from '../../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmUsageRepository } from '../../../src/infrastructure/typeorm/jobs/usage.repository.js';
import { migrate } from '../../../src/infrastructure/typeorm/migrate.js';
import { TypeOrmStorageMeter } from '../../../src/infrastructure/typeorm/operations/storage-meter.js';
import { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { CutOffProxy } from '../../support/cut-off-proxy.js';
import { freshDatabase, query, type TestDatabase } from '../../support/database.js';
import { databaseBefore } from '../../support/database-before.js';
import { until } from '../../support/until.js';

/** Lists the tables and columns that no repository maps. */
const UNMAPPED = [
  'call_feedback.called_at or null',
  'calls.search',
  'dataset_contents',
  'dataset_versions.content_version',
  'migration_releases',
  'migrations',
];

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

it('keeps the usage of an earlier version', async () => {
  const { url, drop } = await databaseBefore('SmallUsage1765584000000');
  const sums = { calls: 3, tokensIn: 5, tokensOut: 7, failures: { inference_timeout: 1 } };
  const histograms = { latency: [70, 3], firstToken: [] };
  const start = new Date('2026-03-01T12:00:00Z');
  const add = (grouped: string, bucket: string, group: string) =>
    query(url, 'INSERT INTO usage_rollups VALUES ($1, $2, $3, $4, $5, $6, $7)', [
      'tea_1',
      grouped,
      bucket,
      start,
      group,
      sums,
      histograms,
    ]);
  for (const bucket of ['minute', 'hour', 'day']) await add('account', bucket, 'usr_1');
  await add('none', 'hour', '');
  await migrate(url);
  const source = await createDataSource(url).initialize();
  const usage = new TypeOrmUsageRepository(new TypeOrmUnitOfWork(source));
  const period = { scope: 'tea_1', since: start, until: new Date('2026-03-02T00:00:00Z') };
  const entry = { ...sums, start, latency: Histogram.percentiles(histograms.latency), firstToken: null, cost: null };
  expect(await usage.sums({ ...period, bucket: 'hour', groupBy: 'account' })).toEqual([{ ...entry, group: 'usr_1' }]);
  expect(await usage.sums({ ...period, bucket: 'hour', groupBy: null })).toEqual([{ ...entry, group: null }]);
  const [minutes] = await query<{ count: number }>(url, 'SELECT count(*)::integer FROM usage_rollups WHERE bucket = 0');
  expect(minutes?.count).toBe(0); // they have ended
  await source.destroy();
  await drop();
});

it('counts what an earlier version has stored, for the quotas and as findings', async () => {
  const { url, drop } = await databaseBefore('StoredBytes1765670400000');
  await query(
    url,
    `WITH team AS (INSERT INTO teams (id, operator, created_at) VALUES ('tea_1', false, now())),
      account AS (INSERT INTO accounts (id, team_id, name, email, email_key, role, created_at)
        VALUES ('usr_1', 'tea_1', 'Ada', 'a@b.c', 'a@b.c', 'admin', now())),
      project AS (INSERT INTO projects VALUES ('prj_1', 'tea_1', 'P', 2, '{}', 'usr_1', now(), now(), NULL, 'usr_1')),
      project_version AS (INSERT INTO project_versions SELECT 'prj_1', n, 'P', '{"a":"Ü"}', 'usr_1', now()
        FROM generate_series(1, 2) n),
      model AS (INSERT INTO models (id, project_id, request_id, version, state, spec, requested_spec, created_by,
        created_at, updated_at, updated_by) VALUES
        ('mdl_1', 'prj_1', gen_random_uuid(), 1, 'draft', '{}', '{}', 'usr_1', now(), now(), 'usr_1')),
      model_version AS (INSERT INTO model_versions VALUES ('mdl_1', 1, '{"b": 1}', 'usr_1', now())),
      dataset AS (INSERT INTO datasets (id, project_id, name, version, state, record_count, content_sha256, bytes,
        validation, created_by, created_at, updated_by, updated_at) VALUES
        ('dst_1', 'prj_1', 'D', 3, 'editable', 0, '', 40, (SELECT json_build_object('findings', json_agg(json_build_object(
          'message', CASE n WHEN 101 THEN 'and 7 more findings' ELSE 'row 1' END) ORDER BY n))
          FROM generate_series(1, 101) n), 'usr_1', now(), 'usr_1', now())),
      content AS (INSERT INTO dataset_contents SELECT 'dst_1', n, '[]' FROM unnest(ARRAY[1, 3]) n),
      version AS (INSERT INTO dataset_versions (dataset_id, version, name, record_count, content_sha256, bytes,
        validation, content_version, created_by, created_at) SELECT
        'dst_1', n, 'D', 0, '', n * 10, '{}', c, 'usr_1', now() FROM (VALUES (2, 1), (3, 3)) AS one (n, c)),
      conversation AS (INSERT INTO conversations VALUES ('cnv_1', 'prj_1', 'usr_1', 'C', 2, now(), now()))
      INSERT INTO conversation_messages SELECT 'cnv_1', n, 'user', 'Hü', now() FROM generate_series(1, 2) n`,
  );
  await migrate(url);
  const source = await createDataSource(url).initialize();
  const meter = new TypeOrmStorageMeter(new TypeOrmUnitOfWork(source));
  const owner = { teamId: 'tea_1', accountId: 'usr_1' };
  expect(await meter.measure(owner, ['projects', 'workspaceBytes', 'conversationBytes'])).toEqual({
    projects: 1,
    workspaceBytes: 2 * (10 + 200) + (8 + 200) + (20 + 200) + (30 + 200),
    conversationBytes: 2 * (3 + 200),
  });
  const counts = await source.query(`SELECT validation->'count' AS count FROM datasets
    UNION ALL (SELECT validation->'count' FROM dataset_versions LIMIT 1)`);
  expect(counts).toEqual([{ count: 107 }, { count: 0 }]);
  await source.destroy();
  await drop();
});

const TASKS = `
  SELECT identifier AS task, queue_name AS queue, payload FROM graphile_worker._private_jobs job
    JOIN graphile_worker._private_tasks task ON task.id = job.task_id
    LEFT JOIN graphile_worker._private_job_queues queue ON queue.id = job.job_queue_id ORDER BY job.id`;

it('turns the waiting announcements of an earlier version into tasks of AlertAnnouncer', async () => {
  const { url, drop } = await databaseBefore('AnnouncedAlerts1765411200000');
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

describe('an update that is killed', () => {
  const first = 'IndexesForLists1765497600000';
  const steps = migrationNames.slice(migrationNames.indexOf(first));
  const shape = (url: string) =>
    query(
      url,
      `SELECT indexdef AS part FROM pg_indexes WHERE schemaname = 'public' UNION ALL
       SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
         FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1`,
    );
  let database: TestDatabase;
  let holder: Client;
  /** Lets the commit of a step wait until the test lets the step pass. */
  beforeEach(async () => {
    database = await databaseBefore(first);
    holder = new Client(database.url);
    await holder.connect();
    await holder.query(`
      CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock(1, hashtext(NEW.name)); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON migrations DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION hold()`);
  });
  afterEach(async () => {
    await holder.end();
    await database.drop();
  });
  const hold = (step: string) => holder.query('SELECT pg_advisory_lock(1, hashtext($1))', [step]);
  const pass = (step: string) => holder.query('SELECT pg_advisory_unlock(1, hashtext($1))', [step]);
  const WAITING = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  const untilWaiting = (count: number) =>
    until(`${count} wait for a lock`, async () => (await holder.query(WAITING)).rowCount === count);
  const done = async () =>
    (await query<{ name: string }>(database.url, 'SELECT name FROM migrations ORDER BY id')).map(({ name }) => name);

  it('within each step goes on with the next start, and ends with the tables of a new database', async () => {
    for (const step of steps) await hold(step);
    for (const [at, step] of steps.entries()) {
      const outcome = migrate(database.url).catch((error: unknown) => error);
      await untilWaiting(1);
      await holder.query(`SELECT pg_terminate_backend(pid) FROM (${WAITING}) waiting`);
      expect(await outcome).toMatchObject({ code: '57P01' });
      expect((await done()).slice(-at - 1)).toEqual(
        migrationNames.slice(0, migrationNames.indexOf(step)).slice(-at - 1),
      );
      await pass(step);
    }
    expect(await migrate(database.url)).toEqual(steps.slice(-1));
    const fresh = await freshDatabase();
    expect(await shape(database.url)).toEqual(await shape(fresh.url));
    await fresh.drop();
  });

  it('while it commits is waited for by the next start', async () => {
    await hold(first);
    const proxy = await CutOffProxy.before(database.url);
    const killed = migrate(proxy.url).catch((error: unknown) => error);
    await untilWaiting(1);
    proxy.cut();
    expect(await killed).toBeInstanceOf(Error);
    const next = migrate(database.url);
    await untilWaiting(2);
    await pass(first);
    expect(await next).toEqual(steps.slice(1));
    expect(await done()).toEqual(migrationNames);
    await proxy.close();
  });
});
