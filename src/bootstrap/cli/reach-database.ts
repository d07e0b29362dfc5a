import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  hasEmbeddedDatabase,
  runningPostgresUrl,
  startEmbeddedPostgres,
} from '../../infrastructure/embedded-postgres/embedded-postgres.js';
import { FolderTaken } from '../../infrastructure/embedded-postgres/errors.js';
import type { Config } from '../config/config.js';

export interface Reached {
  readonly url: string;
  /** Ends what was started for the command. */
  close(): Promise<void>;
}

/** Each takes two seconds; a service that starts or ends on the folder needs few of them. */
const ATTEMPTS = 15;
const PAUSE_MS = 500;

export const postgresFolder = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'postgres');

/**
 * The service's database: a server of one's own, the embedded one of a service that runs, or else the embedded one,
 * started for as long as the command takes. Unless `make`, there must be one.
 */
export async function reachDatabase(config: Config, { make }: { readonly make: boolean }): Promise<Reached> {
  const { databaseUrl } = config;
  if (databaseUrl) return { url: databaseUrl, close: async () => undefined };
  const folder = postgresFolder(config);
  if (!make && !hasEmbeddedDatabase(folder)) throw new Error(`there is no database in ${config.dataDir} yet`);
  for (let attempt = 1; ; attempt++) {
    const url = await runningPostgresUrl(folder);
    if (url) return { url, close: async () => undefined };
    try {
      const server = await startEmbeddedPostgres({ folder });
      return { url: server.url, close: () => server.stop() };
    } catch (error) {
      if (!(error instanceof FolderTaken) || attempt === ATTEMPTS) throw error;
      await delay(PAUSE_MS);
    }
  }
}
