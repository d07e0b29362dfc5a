import { NoTracer } from '../../../src/infrastructure/system/adapters.js';
import { createDataSource, type DataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmInstanceRegistry } from '../../../src/infrastructure/typeorm/jobs/instance-registry.js';
import { GraphileWorkQueue } from '../../../src/infrastructure/typeorm/queue/graphile-work-queue.js';
import { OutageLog } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';
import { freshDatabase, query, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { type WorkQueueUnderTest, workQueueContract } from './work-queue.contract.js';

describe('on PostgreSQL', () => {
  let database: TestDatabase;
  let opened: { queue: GraphileWorkQueue; living: TypeOrmInstanceRegistry; source: DataSource }[] = [];
  const log = new MemoryLogger();

  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.drop());

  const rig: WorkQueueUnderTest = {
    instance: async () => {
      const source = await createDataSource(database.url, 6).initialize();
      const living = new TypeOrmInstanceRegistry(source);
      const unitOfWork = new TypeOrmUnitOfWork(source);
      const queue = new GraphileWorkQueue(source, unitOfWork, living, log, new OutageLog(log), new NoTracer());
      opened.push({ queue, living, source });
      return { queue, unitOfWork, number: await living.own() };
    },
    makeDue: async () => {
      await query(database.url, 'UPDATE graphile_worker._private_jobs SET run_at = now()');
    },
    tasks: async () => (await query(database.url, 'SELECT id FROM graphile_worker.jobs')).length,
    secondsUntilDue: async () => {
      const due = 'SELECT extract(epoch FROM max(run_at) - now())::float AS pause FROM graphile_worker.jobs';
      return (await query<{ pause: number }>(database.url, due))[0]?.pause ?? 0;
    },
    clear: async () => {
      for (const { queue, living, source } of opened.splice(0)) {
        await queue.stop(200);
        await living.leave();
        await source.destroy();
      }
      opened = [];
      await query(database.url, 'DELETE FROM graphile_worker._private_jobs');
      await query(database.url, 'DELETE FROM task_workers');
    },
  };
  workQueueContract('PostgreSQL', rig);

  describe('WorkQueue in PostgreSQL', () => {
    afterEach(() => rig.clear());

    it('continues after its connections broke, also during a task', async () => {
      const { queue } = await rig.instance();
      const done: unknown[] = [];
      let cut = false;
      queue.register('task', {
        atOnce: 2,
        run: async (payload) => {
          if (payload === 'cut') {
            if (!cut) await cutAll();
            cut = true;
          }
          done.push(payload);
        },
        gaveUp: async () => undefined,
      });
      await queue.start();
      await queue.enqueue('task', 'cut');
      await eventually(() => done.includes('cut'));
      await eventually(async () => {
        await queue.enqueue('task', 'after').catch(() => undefined);
        return done.includes('after');
      });
      await eventually(async () => (await rig.tasks()) === 0);
    });

    it('runs a task that is locked by a worker that does not exist, such as one of an earlier version', async () => {
      const { queue } = await rig.instance();
      await queue.enqueue('task', 'left', { queueName: 'line' });
      for (const table of ['_private_jobs', '_private_job_queues'])
        await query(database.url, `UPDATE graphile_worker.${table} SET locked_at = now(), locked_by = 'worker-gone'`);
      const done: unknown[] = [];
      queue.register('task', {
        atOnce: 1,
        run: async (payload) => void done.push(payload),
        gaveUp: async () => undefined,
      });
      await queue.start();
      await eventually(() => done.includes('left'));
      await eventually(async () => (await rig.tasks()) === 0);
    });

    async function cutAll(): Promise<void> {
      const others = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                       WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'tenon'`;
      await query(database.url, others);
    }
  });
});
