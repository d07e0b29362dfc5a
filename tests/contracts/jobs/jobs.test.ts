import type { InstanceRegistry } from '../../../src/application/jobs/ports.js';
import { createDataSource, type DataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmInstanceRegistry } from '../../../src/infrastructure/typeorm/jobs/instance-registry.js';
import { TypeOrmLocks, TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { MemoryInstanceRegistry, MemoryInstances } from '../../fakes/jobs/memory-instance-registry.js';
import { query } from '../../support/database.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { instanceRegistryContract } from './instance-registry.contract.js';
import { jobHistoryContract } from './job-history.contract.js';
import { jobsContract } from './jobs.contract.js';

/** All suites have these in turn; each test begins with an empty one. */
const memory = memoryUnderTest();
const postgres = postgresUnderTest();

jobsContract('memory', memory);
jobsContract('PostgreSQL', postgres);

jobHistoryContract('memory', memory);
jobHistoryContract('PostgreSQL', postgres);

describe('A database that is stricter by default', () => {
  it('lets a turn see what was committed before it', async () => {
    const url = new URL(postgres.url);
    url.searchParams.set('options', '-c default_transaction_isolation=serializable');
    const source = await createDataSource(url.href).initialize();
    const unitOfWork = new TypeOrmUnitOfWork(source);
    const isolation = () => unitOfWork.query('SHOW transaction_isolation');
    const found = await new TypeOrmLocks(unitOfWork).run('line', isolation);
    expect(found).toEqual([{ transaction_isolation: 'read committed' }]);
    await source.destroy();
  });
});

const known = new MemoryInstances();
instanceRegistryContract('memory', {
  instance: async () => new MemoryInstanceRegistry(known),
  cut: (instance) => instance.leave(),
});

describe('on PostgreSQL', () => {
  const sources: DataSource[] = [];
  const instances: InstanceRegistry[] = [];

  afterAll(async () => {
    for (const instance of instances) await instance.leave();
    for (const source of sources) await source.destroy();
  });

  instanceRegistryContract('PostgreSQL', {
    instance: async () => {
      const source = await createDataSource(postgres.url, 3).initialize();
      const instance = new TypeOrmInstanceRegistry(source);
      sources.push(source);
      instances.push(instance);
      return instance;
    },
    cut: async (instance) => {
      const number = await instance.own();
      // The server has the locks of all other tests, too, whose instances have the same numbers.
      const holders = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await query(postgres.url, `SELECT pg_terminate_backend(pid, 5000) FROM (${holders}) holder`, [number]);
    },
  });
});
