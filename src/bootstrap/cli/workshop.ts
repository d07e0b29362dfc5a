import { userInfo } from 'node:os';
import type { Container } from 'inversify';
import { Audit } from '../../application/audit/audit.js';
import { UnitOfWork } from '../../application/shared/ports.js';
import { Actor, type AuditAction, type AuditDetails } from '../../domain/audit/audit-entry.js';
import { WinstonLogger } from '../../infrastructure/logging/winston-logger.js';
import { SystemClock } from '../../infrastructure/system/system-clock.js';
import { createDataSource } from '../../infrastructure/typeorm/data-source.js';
import { migrate } from '../../infrastructure/typeorm/migrate.js';
import type { Config } from '../config/config.js';
import { createContainer } from '../container.js';
import { makeDataFolder } from '../data-folder.js';
import { reachDatabase } from './reach-database.js';

/** Who the audit says it was. */
export function commandLineActor(): Actor {
  try {
    return { ...Actor.commandLine, name: userInfo().username };
  } catch {
    return Actor.commandLine; // a user without a name, as containers have
  }
}

/** Runs `work` with the service's container on its database, whose tables are brought up to date before. */
export async function inWorkshop<T>(
  config: Config,
  make: boolean,
  work: (container: Container) => Promise<T>,
): Promise<T> {
  makeDataFolder(config);
  const reached = await reachDatabase(config, { make });
  try {
    await migrate(reached.url);
    return await withParts(config, reached.url, work);
  } finally {
    await reached.close();
  }
}

/** The same on a database that is reached already, and left as it is. */
export async function withParts<T>(
  config: Config,
  url: string,
  work: (container: Container) => Promise<T>,
): Promise<T> {
  // Not the service's own file, which only one process may rotate.
  const log = new WinstonLogger({ file: null, level: 'warn', stderr: true }, new SystemClock());
  const database = await createDataSource(url, 2).initialize();
  try {
    return await work(createContainer({ config, database, logger: log }));
  } finally {
    await database.destroy();
    await log.close();
  }
}

/** Leaves a trace of an act on the database as a whole. */
export function recordOfDatabase(
  config: Config,
  url: string,
  action: AuditAction & `database.${string}`,
  details: AuditDetails,
): Promise<void> {
  const id = decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres';
  const act = { by: commandLineActor(), action, object: { id }, details };
  // An entry seals nothing: no secret is made for it in a folder that the service may never have had.
  const secret = config.secret ?? 'nothing is sealed';
  return withParts({ ...config, secret }, url, (container) =>
    container.get(UnitOfWork).run(() => container.get(Audit).record(act)),
  );
}
