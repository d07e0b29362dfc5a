import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from 'inversify';
import { Audit } from '../../application/audit/audit.service.js';
import { UnitOfWork } from '../../application/shared/ports.js';
import { Actor, type AuditAction, type AuditDetails } from '../../domain/audit/audit-entry.js';
import { FolderTaken } from '../../infrastructure/embedded-postgres/account.js';
import {
  hasEmbeddedDatabase,
  runningPostgresUrl,
  startEmbeddedPostgres,
} from '../../infrastructure/embedded-postgres/embedded-postgres.js';
import { WinstonLogger } from '../../infrastructure/logging/winston-logger.js';
import { SystemClock } from '../../infrastructure/system/adapters.js';
import { createDataSource } from '../../infrastructure/typeorm/data-source.js';
import { migrate } from '../../infrastructure/typeorm/migrate.js';
import type { Invocation } from '../../interfaces/cli/commands.js';
import type { Terminal } from '../../interfaces/cli/terminal.js';
import type { Config } from '../config/config.js';
import { createContainer } from '../container.js';
import { makeDataFolder } from '../database.js';

export interface ReachedDatabase {
  readonly url: string;
  /** Stops a server that was started for the command. */
  close(): Promise<void>;
}

/** Limits the attempts while a service starts or stops on the same folder. One attempt takes two seconds. */
const ATTEMPTS = 15;
const RETRY_DELAY_MS = 500;

export const postgresFolder = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'postgres');

/**
 * Returns the database of DATABASE_URL. Without this setting, returns the embedded database of a running service, or
 * starts the embedded database for the command. Throws if there is no database yet and `make` is false.
 */
export async function reachDatabase(config: Config, { make }: { readonly make: boolean }): Promise<ReachedDatabase> {
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
      await delay(RETRY_DELAY_MS);
    }
  }
}

export function commandLineActor(): Actor {
  try {
    return { ...Actor.commandLine, name: userInfo().username };
  } catch {
    return Actor.commandLine; // in a Docker container, the user may have no name
  }
}

/** Migrates the service's database and runs `work` with a container on it. */
export async function withContainer<T>(
  config: Config,
  make: boolean,
  work: (container: Container) => Promise<T>,
): Promise<T> {
  makeDataFolder(config);
  const reached = await reachDatabase(config, { make });
  try {
    await migrate(reached.url);
    return await withContainerOn(config, reached.url, work);
  } finally {
    await reached.close();
  }
}

/** Runs `work` with a container on the database, without migrations. */
async function withContainerOn<T>(config: Config, url: string, work: (container: Container) => Promise<T>): Promise<T> {
  // A command does not write the log file of the service, because only one process may rotate it.
  const log = new WinstonLogger({ file: null, level: 'warn', stderr: true }, new SystemClock());
  const database = await createDataSource(url, 2).initialize();
  try {
    return await work(createContainer({ config, database, logger: log }));
  } finally {
    await database.destroy();
    await log.close();
  }
}

/** Adds an audit entry about the whole database. */
export function auditDatabase(
  config: Config,
  url: string,
  action: AuditAction & `database.${string}`,
  details: AuditDetails,
): Promise<void> {
  const id = decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres';
  const act = { by: commandLineActor(), action, object: { id }, details };
  // An entry needs no secret. This text prevents that the container creates a secret in the data folder.
  const secret = config.secret ?? 'nothing is sealed';
  return withContainerOn({ ...config, secret }, url, (container) =>
    container.get(UnitOfWork).run(() => container.get(Audit).record(act)),
  );
}

export async function migrateDatabase(config: Config, _: Invocation, terminal: Terminal): Promise<void> {
  makeDataFolder(config);
  const reached = await reachDatabase(config, { make: true });
  try {
    const done = await migrate(reached.url);
    if (done.length > 0) {
      await auditDatabase(config, reached.url, 'database.migrated', { migrations: done.join(', ') });
    }
    terminal.out(done.length === 0 ? 'the tables are up to date' : `done: ${done.join(', ')}`);
  } finally {
    await reached.close();
  }
}
