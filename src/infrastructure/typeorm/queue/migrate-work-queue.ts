import { Logger, runMigrations } from 'graphile-worker';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';

const silent = new Logger(() => () => undefined);

/** Brings graphile-worker's tables up to date; they have a schema of their own. One process at a time. */
export const migrateWorkQueue = (source: DataSource): Promise<void> =>
  runMigrations({ pgPool: (source.driver as unknown as { master: Pool }).master, logger: silent });
