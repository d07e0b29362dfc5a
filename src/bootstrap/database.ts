import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger, Tracer } from '../application/shared/ports.js';
import { startEmbeddedPostgres } from '../infrastructure/embedded-postgres/embedded-postgres.js';
import { makeFolder } from '../infrastructure/files/data-folder.js';
import { SystemClock } from '../infrastructure/system/adapters.js';
import { createDataSource, type DataSource } from '../infrastructure/typeorm/data-source.js';
import { migrate } from '../infrastructure/typeorm/migrate.js';
import { asStorageUnavailable } from '../infrastructure/typeorm/storage-errors.js';
import type { Config } from './config/config.js';
import type { AddStep } from './shutdown-steps.js';

const CONNECT_PAUSE_MS = 500;
const POOL_SIZE = 16;

/** The service cannot use the database. The message names the database and the reason. */
export class DatabaseUnusable extends Error {}

/** Starts the embedded database and returns its URL. */
export async function embeddedDatabase(config: Config, log: Logger, addStep: AddStep): Promise<string> {
  const folder = join(config.dataDir, 'postgres');
  const server = await startEmbeddedPostgres({ folder, log });
  addStep('embedded database', () => server.stop());
  return server.url;
}

/** Waits for the database, runs its migrations and opens the connection pool. */
export async function connected(
  url: string,
  waitMs: number,
  log: Logger,
  tracer: Tracer,
  stopping?: AbortSignal,
): Promise<DataSource> {
  const { host, pathname } = new URL(url);
  const clock = new SystemClock();
  const deadline = clock.now().getTime() + waitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      await migrate(url);
      return await createDataSource(url, POOL_SIZE, tracer).initialize();
    } catch (error) {
      const waiting = asStorageUnavailable(error) !== error && clock.now().getTime() < deadline;
      if (waiting) {
        if (attempt === 1) log.warn('waiting for the database', { host, most_ms: waitMs });
        await delay(CONNECT_PAUSE_MS, undefined, { signal: stopping });
      } else
        throw new DatabaseUnusable(
          `the database ${host}${pathname} (DATABASE_URL) cannot be used: ${(error as Error).message}`,
        );
    }
  }
}

/** Creates the data folder and the upload folder. Throws an error that names the setting. */
export function makeDataFolder({ dataDir, uploadFolder }: Pick<Config, 'dataDir' | 'uploadFolder'>): void {
  try {
    // Other users cannot list the folder, but the unprivileged account of PostgreSQL can reach its own folder in it.
    makeFolder(dataDir, 0o711);
    makeFolder(uploadFolder);
  } catch (error) {
    throw new Error(`the data folder ${dataDir} (SERVICE_DATA_DIR) cannot be used: ${(error as Error).message}`);
  }
}
