import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger, Tracer } from '../application/shared/ports.js';
import { StorageUnavailable } from '../domain/shared/errors.js';
import { startEmbeddedPostgres } from '../infrastructure/embedded-postgres/embedded-postgres.js';
import { makeFolder } from '../infrastructure/files/data-folder.js';
import { steadyMs } from '../infrastructure/system/scheduling.js';
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

/** Runs a step of the start that needs the database, again and again while the database is out of reach. */
export type Patiently = <T>(step: () => Promise<T>) => Promise<T>;

/** Returns a function that waits for at most `waitMs` in all steps together, and then throws DatabaseUnusable. */
export function patience(url: string, waitMs: number, log: Logger, stopping?: AbortSignal): Patiently {
  let leftMs = waitMs;
  return async (step) => {
    for (let attempt = 1; ; attempt++) {
      const began = steadyMs();
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof StorageUnavailable) && asStorageUnavailable(error) === error) throw error;
        leftMs -= steadyMs() - began;
        if (leftMs <= 0) throw unusable(url, error);
        if (attempt === 1) log.warn('waiting for the database', { host: new URL(url).host, most_ms: waitMs });
        await delay(CONNECT_PAUSE_MS, undefined, { signal: stopping });
        leftMs -= CONNECT_PAUSE_MS;
      }
    }
  };
}

/** Waits for the database, runs its migrations and opens the connection pool. Throws DatabaseUnusable. */
export async function connected(url: string, patiently: Patiently, tracer: Tracer): Promise<DataSource> {
  try {
    return await patiently(async () => {
      await migrate(url);
      return createDataSource(url, POOL_SIZE, tracer).initialize();
    });
  } catch (error) {
    const isNamed = error instanceof DatabaseUnusable || (error as Error).name === 'AbortError';
    throw isNamed ? error : unusable(url, error);
  }
}

function unusable(url: string, reason: unknown): DatabaseUnusable {
  const { host, pathname } = new URL(url);
  return new DatabaseUnusable(
    `the database ${host}${pathname} (DATABASE_URL) cannot be used: ${(reason as Error).message}`,
  );
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
