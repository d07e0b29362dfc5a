import { Logger, runMigrations } from 'graphile-worker';
import type { DataSource } from 'typeorm';
import { poolOf } from '../typeorm-unit-of-work.js';

const silent = new Logger(() => () => undefined);

/** Brings graphile-worker's tables up to date; they have a schema of their own. One process at a time. */
export const migrateWorkQueue = (source: DataSource): Promise<void> =>
  runMigrations({ pgPool: poolOf(source), logger: silent });
