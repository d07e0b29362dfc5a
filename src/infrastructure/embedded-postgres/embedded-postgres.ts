import * as fs from 'node:fs';
import * as path from 'node:path';
import { claimFolder } from './account.js';
import { packagedBinaries, runnableBinaries } from './binaries.js';
import { checkVersion, clusterFolder, makeCluster, readPassword } from './cluster.js';
import { answers, type Place, PORT, untilReady, urlOf } from './database.js';
import { explained } from './failure.js';
import { lockFolder } from './folder-lock.js';
import { launch } from './guardian.js';
import { findWay, type Launcher } from './launcher.js';
import { endOrphan } from './orphan.js';
import { makeSocketFolder, socketFolder } from './socket-folder.js';
import { Supervisor } from './supervisor.js';

export interface EmbeddedPostgres {
  /** Of the database, which stays the same when the server has to be started again. */
  readonly url: string;
  /** Shuts the server down and lets go of the folder. */
  stop(): Promise<void>;
}

export interface Options {
  /** Holds everything that belongs to the server, for example `<data>/postgres`. */
  readonly folder: string;
  readonly database?: string;
  /** How many may be connected at once; enough for a few processes of the service. */
  readonly maxConnections?: number;
  readonly log?: (line: string) => void;
}

const DATABASE = 'tenon';

/**
 * Starts a PostgreSQL server of this process's own: it listens on a private unix socket only, is started again when
 * it dies, and ends with this process, however that ends. What it has acknowledged survives all of that.
 */
export function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  return explained(async () => {
    const packaged = packagedBinaries();
    const account = claimFolder(path.resolve(options.folder));
    const folder = fs.realpathSync(options.folder);
    const sockets = makeSocketFolder(folder, account);
    const lock = await lockFolder(sockets, folder);
    try {
      const programs = path.join(await runnableBinaries(packaged, folder), 'bin');
      const initdb = path.join(programs, 'initdb');
      const { launcher, version } = await findWay(account, folder, initdb);
      await makeCluster(folder, account, launcher, initdb);
      checkVersion(folder, version);
      const [cluster, password] = [clusterFolder(folder), readPassword(folder)];
      const place = { cluster, sockets, password, database: options.database ?? DATABASE };
      const command = [path.join(programs, 'postgres'), ...serverArguments(place, options.maxConnections ?? 60)];
      const supervisor = supervise(place, command, launcher, options.log ?? (() => {}));
      await supervisor.start();
      let stopping: Promise<void> | undefined;
      const stop = (): Promise<void> => {
        stopping ??= supervisor.stop().finally(() => lock.release());
        return stopping;
      };
      return { url: urlOf(place), stop };
    } catch (error) {
      await lock.release();
      throw error;
    }
  });
}

/** The URL of the server that runs on `folder` already, for command-line tools; starts nothing. */
export function embeddedPostgresUrl(folder: string, database: string = DATABASE): string {
  const password = readPassword(folder);
  return urlOf({ sockets: socketFolder(fs.realpathSync(folder)), password, database });
}

/** The same, or null where none answers there. */
export async function runningPostgresUrl(folder: string): Promise<string | null> {
  if (!hasEmbeddedDatabase(folder)) return null;
  const url = embeddedPostgresUrl(folder);
  return (await answers(url)) ? url : null;
}

export const hasEmbeddedDatabase = (folder: string): boolean => fs.existsSync(clusterFolder(folder));

function supervise(place: Place, command: string[], launcher: Launcher, log: (line: string) => void): Supervisor {
  const { cluster, sockets } = place;
  return new Supervisor({
    log,
    ready: (server) => untilReady(place, server),
    async launch() {
      const stranger = await endOrphan(cluster);
      for (const left of [`.s.PGSQL.${PORT}`, `.s.PGSQL.${PORT}.lock`])
        fs.rmSync(path.join(sockets, left), { force: true });
      // A process that PostgreSQL takes for an ancestor is none that it thinks it found running on the cluster.
      return launch(launcher, command, log, stranger === undefined ? {} : { PG_GRANDPARENT_PID: String(stranger) });
    },
  });
}

/** The settings are given here, not in the cluster's file, so that a new release's reach existing clusters. */
function serverArguments({ cluster, sockets }: Place, maxConnections: number): string[] {
  const settings = {
    max_connections: maxConnections,
    shared_buffers: '64MB',
    log_line_prefix: '[%p] ',
    // Values of rows and statements belong in no log; the client gets the whole error.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
  };
  return [
    ...['-D', cluster, '-h', '', '-p', String(PORT), '-k', `"${sockets.replaceAll('"', '""')}"`],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}
