import { pipeline } from 'node:stream/promises';
import { escapeIdentifier, type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { createMigrationSource, migrationNames } from '../data-source.js';
import { MIGRATION_LOCK, migrateWorkQueue } from '../migrate.js';
import { addReleaseMarks, markRelease } from '../releases.js';
import { hasTable, QUEUE, withoutTimeLimit } from './dump-database.js';

type Chunks = AsyncIterable<Uint8Array>;

/** Finds an object that belongs neither to an extension nor to the work queue. */
const OBJECTS = `
  SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname !~ '^(pg_|information_schema$|graphile_worker$)' AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
   LIMIT 1`;

const TASKS = `
  CREATE TEMPORARY TABLE restored_tasks (
    identifier text, payload json, run_at timestamptz, max_attempts integer, key text, priority integer,
    attempts integer DEFAULT 0, queue_name text
  ) ON COMMIT DROP`;
/** The columns of the tasks in backups that do not name the columns. */
const TASK_COLUMNS = ['identifier', 'payload', 'run_at', 'max_attempts', 'key', 'priority'];

const ADD_TASKS = `
  CREATE TEMPORARY TABLE added_tasks ON COMMIT DROP AS
  SELECT added.id, task.attempts
    FROM restored_tasks task,
         graphile_worker.add_job(task.identifier, task.payload, run_at => task.run_at, job_key => task.key,
           max_attempts => task.max_attempts, priority => task.priority, queue_name => task.queue_name) added`;

/** Restores the attempts, so that a task without attempts left is not tried again. */
const COUNT_ATTEMPTS = `
  UPDATE graphile_worker._private_jobs job SET attempts = added_tasks.attempts FROM added_tasks WHERE job.id = added_tasks.id`;

/** Fills an empty database in one transaction. Instances that start on it wait, as they do for a migration. */
export class DatabaseRestoration {
  private constructor(
    private readonly source: DataSource,
    private readonly runner: QueryRunner,
    private readonly client: PoolClient,
    private readonly migrations: readonly string[],
  ) {}

  /** Throws if the database is in use or not empty, or if a migration is unknown. */
  static async begin(url: string, migrations: readonly string[]): Promise<DatabaseRestoration> {
    const unknown = migrations.filter((name) => !migrationNames.includes(name));
    if (unknown.length > 0) throw new Error(`the backup is of a newer version of Tenon: ${unknown.join(', ')}`);
    const source = await createMigrationSource(url, migrations).initialize();
    try {
      const runner = source.createQueryRunner();
      const restoration = new DatabaseRestoration(source, runner, (await runner.connect()) as PoolClient, migrations);
      await restoration.prepare();
      return restoration;
    } catch (error) {
      await source.destroy();
      throw error;
    }
  }

  async table(name: string, columns: readonly string[], chunks: Chunks): Promise<void> {
    const list = columns.map(escapeIdentifier).join(', ');
    await this.copy(`public.${escapeIdentifier(name)} (${list})`, chunks).catch(({ message }: Error) => {
      throw new Error(`the backup has records of the table ${name} that cannot be restored: ${message}`);
    });
  }

  async sequence(name: string, value: string): Promise<void> {
    await this.client.query('SELECT setval($1::regclass, $2)', [`public.${escapeIdentifier(name)}`, value]);
  }

  async tasks(columns: readonly string[] = TASK_COLUMNS, chunks: Chunks): Promise<void> {
    await this.client.query(TASKS);
    await this.copy(`restored_tasks (${columns.map(escapeIdentifier).join(', ')})`, chunks);
    await this.client.query(ADD_TASKS);
    await this.client.query(COUNT_ATTEMPTS);
  }

  async commit(): Promise<void> {
    await markRelease(this.runner, this.migrations); // a backup of an earlier release has no marks
    await this.runner.commitTransaction();
    await this.client.query('ANALYZE');
  }

  /** Rolls back if nothing was committed, and ends the connections. */
  async end(): Promise<void> {
    if (this.runner.isTransactionActive) await this.runner.rollbackTransaction().catch(() => undefined);
    await this.client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    await this.runner.release();
    await this.source.destroy();
  }

  private async prepare(): Promise<void> {
    const { rows } = await this.client.query('SELECT pg_try_advisory_lock($1) AS mine', [MIGRATION_LOCK]);
    if (!rows[0].mine) throw new Error('a service is starting on the database: end it first');
    const { rows: objects } = await this.client.query(OBJECTS);
    const inQueue = await this.queued();
    if (objects.length > 0 || inQueue) {
      const found = objects[0]?.name ?? 'tasks that wait';
      throw new Error(`the database is not empty (it has ${found}): a backup is only restored into an empty one`);
    }
    await migrateWorkQueue(this.source);
    await this.runner.startTransaction();
    await this.client.query('SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0');
    const executor = new MigrationExecutor(this.source, this.runner);
    executor.transaction = 'none'; // the migrations run in the transaction that has just begun
    await executor.executePendingMigrations();
    await addReleaseMarks(this.runner);
  }

  private async queued(): Promise<boolean> {
    if (!(await hasTable(this.client, QUEUE))) return false;
    const found = await this.client.query(`SELECT FROM ${QUEUE} LIMIT 1`);
    return found.rowCount === 1;
  }

  private async copy(target: string, chunks: Chunks): Promise<void> {
    await pipeline(chunks, this.client.query(withoutTimeLimit(copyFrom(`COPY ${target} FROM STDIN`))));
  }
}
