import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../application/shared/ports.js';
import { type SupervisedProcess, Supervisor } from '../child-process/supervisor.js';
import { claimFolder, EmbeddedPostgresError, findLauncher, type Launcher, withRemedy } from './account.js';
import { packagedBinaries, runnableBinaries } from './binaries.js';
import { checkVersion, clusterFolder, endOrphan, makeCluster, readPassword } from './cluster.js';
import { lockFolder, makeSocketFolder, socketFolder } from './folder-lock.js';
import { answers, launch, type Place, PORT, untilReady, urlOf } from './server.js';

export interface EmbeddedPostgres {
  /** Stays the same when the server is restarted. */
  readonly url: string;
  /** Shuts the server down and releases the folder. */
  stop(): Promise<void>;
}

export interface Options {
  /** Holds everything that belongs to the server, for example `<data>/postgres`. */
  readonly folder: string;
  readonly database?: string;
  /** The most connections at the same time. The default is enough for a few instances of the service. */
  readonly maxConnections?: number;
  readonly log?: Pick<Logger, 'info' | 'warn'>;
}

const DATABASE = 'tenon';
const FIRST_ATTEMPTS = 5;
const ATTEMPT_DELAY_MS = 100;
const RESTARTS = { restartDelayMs: { first: 100, max: 10_000 }, stableMs: 30_000 };
const SILENT = { info: () => undefined, warn: () => undefined };

/**
 * Starts a PostgreSQL server for this process. The server listens only on a private unix socket. It is restarted when
 * it dies. It ends with this process, even after `kill -9`. Acknowledged writes survive crashes and restarts.
 */
export function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  return withRemedy(async () => {
    const packaged = packagedBinaries();
    const account = claimFolder(path.resolve(options.folder));
    const folder = fs.realpathSync(options.folder);
    const sockets = makeSocketFolder(folder, account);
    const lock = await lockFolder(sockets, folder);
    try {
      const programs = path.join(await runnableBinaries(packaged, folder), 'bin');
      const initdb = path.join(programs, 'initdb');
      const { launcher, version } = await findLauncher(account, folder, initdb);
      await makeCluster(folder, account, launcher, initdb);
      checkVersion(folder, version);
      const [cluster, password] = [clusterFolder(folder), readPassword(folder)];
      const place = { cluster, sockets, password, database: options.database ?? DATABASE };
      const command = [path.join(programs, 'postgres'), ...serverArguments(place, options.maxConnections ?? 80)];
      const server = supervise(place, command, launcher, options.log ?? SILENT);
      await startWithRetries(server);
      let stopping: Promise<void> | undefined;
      const stop = (): Promise<void> => {
        stopping ??= server.stop().finally(() => lock.release());
        return stopping;
      };
      return { url: urlOf(place), stop };
    } catch (error) {
      await lock.release();
      throw error;
    }
  });
}

/** Returns the URL of the server on `folder`, for command-line tools. Starts nothing. */
export function embeddedPostgresUrl(folder: string, database: string = DATABASE): string {
  const password = readPassword(folder);
  return urlOf({ sockets: socketFolder(fs.realpathSync(folder)), password, database });
}

/** Returns the URL of the server on `folder`, or null if no server answers. */
export async function runningPostgresUrl(folder: string): Promise<string | null> {
  if (!hasEmbeddedDatabase(folder)) return null;
  const url = embeddedPostgresUrl(folder);
  return (await answers(url)) ? url : null;
}

export const hasEmbeddedDatabase = (folder: string): boolean => fs.existsSync(clusterFolder(folder));

function supervise(
  place: Place,
  command: string[],
  launcher: Launcher,
  log: Pick<Logger, 'info' | 'warn'>,
): Supervisor<SupervisedProcess> {
  const start = async (): Promise<SupervisedProcess> => {
    const unrelatedPid = await endOrphan(place.cluster);
    for (const left of [`.s.PGSQL.${PORT}`, `.s.PGSQL.${PORT}.lock`])
      fs.rmSync(path.join(place.sockets, left), { force: true });
    // PostgreSQL does not start while the process in the pid file is alive, unless that process is its own ancestor.
    const variables = unrelatedPid === undefined ? {} : { PG_GRANDPARENT_PID: String(unrelatedPid) };
    const server = launch(launcher, command, (line) => log.info('postgres', { line }), variables);
    return { ...server, ready: untilReady(place, server.gone) };
  };
  return new Supervisor(start, RESTARTS, { log, subject: 'embedded database', fields: {} });
}

/** Tries several times, because the shared memory of a killed server stays in use for a moment. */
async function startWithRetries(server: Supervisor<SupervisedProcess>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await server.start();
    } catch (error) {
      if (error instanceof EmbeddedPostgresError || attempt === FIRST_ATTEMPTS) throw error;
      await delay(ATTEMPT_DELAY_MS * attempt);
    }
  }
}

/** Returns the arguments. The settings are here and not in the cluster, so that each release can change them. */
function serverArguments({ cluster, sockets }: Place, maxConnections: number): string[] {
  const settings = {
    max_connections: maxConnections,
    shared_buffers: '64MB',
    log_line_prefix: '[%p] ',
    // The log must not contain values of rows or statements. The client gets the whole error.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
  };
  return [
    ...['-D', cluster, '-h', '', '-p', String(PORT), '-k', `"${sockets.replaceAll('"', '""')}"`],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}
