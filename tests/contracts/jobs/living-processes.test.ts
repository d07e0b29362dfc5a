import type { LivingProcesses } from '../../../src/application/jobs/ports/living-processes.js';
import {
  MemoryLivingProcesses,
  MemoryProcesses,
} from '../../../src/infrastructure/memory/jobs/memory-living-processes.js';
import { createDataSource, type DataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmLivingProcesses } from '../../../src/infrastructure/typeorm/jobs/typeorm-living-processes.js';
import { freshDatabase, query, type TestDatabase } from '../../support/database.js';
import { livingProcessesContract } from './living-processes.contract.js';

const known = new MemoryProcesses();
livingProcessesContract('memory', {
  process: async () => new MemoryLivingProcesses(known),
  cut: (process) => process.leave(),
});

describe('on PostgreSQL', () => {
  let database: TestDatabase;
  const sources: DataSource[] = [];
  const processes: LivingProcesses[] = [];

  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(async () => {
    for (const process of processes) await process.leave();
    for (const source of sources) await source.destroy();
    await database.drop();
  });

  livingProcessesContract('PostgreSQL', {
    process: async () => {
      const source = await createDataSource(database.url, 3).initialize();
      const process = new TypeOrmLivingProcesses(source);
      sources.push(source);
      processes.push(process);
      return process;
    },
    cut: async (process) => {
      const number = await process.own();
      // The server has the locks of all other tests, too, whose processes have the same numbers.
      const holders = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await query(database.url, `SELECT pg_terminate_backend(pid, 5000) FROM (${holders}) holder`, [number]);
    },
  });
});
