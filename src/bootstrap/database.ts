import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../application/shared/ports.js';
import { startEmbeddedPostgres } from '../infrastructure/embedded-postgres/embedded-postgres.js';
import { SystemClock } from '../infrastructure/system/system-clock.js';
import { createDataSource, type DataSource } from '../infrastructure/typeorm/data-source.js';
import { migrate } from '../infrastructure/typeorm/migrate.js';
import { asStorageUnavailable } from '../infrastructure/typeorm/storage-errors.js';
import type { Config } from './config/config.js';
import type { Later } from './ending.js';

const CONNECT_PAUSE_MS = 500;

/** Starts the database of the data folder; answers its URL. */
export async function embeddedDatabase(config: Config, log: Logger, later: Later): Promise<string> {
  const folder = join(config.dataDir, 'postgres');
  const server = await startEmbeddedPostgres({ folder, log });
  later('the embedded database', () => server.stop());
  return server.url;
}

/** Waits for a database that is out of reach, then brings its tables up to date and opens the pool. */
export async function connected(url: string, waitMs: number, log: Logger, stopping?: AbortSignal): Promise<DataSource> {
  const { host, pathname } = new URL(url);
  const clock = new SystemClock();
  const deadline = clock.now().getTime() + waitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      await migrate(url);
      return await createDataSource(url).initialize();
    } catch (error) {
      const waiting = asStorageUnavailable(error) !== error && clock.now().getTime() < deadline;
      if (waiting) {
        if (attempt === 1) log.warn('waiting for the database', { host, most_ms: waitMs });
        await delay(CONNECT_PAUSE_MS, undefined, { signal: stopping });
      } else
        throw new Error(`the database ${host}${pathname} (DATABASE_URL) cannot be used: ${(error as Error).message}`);
    }
  }
}
