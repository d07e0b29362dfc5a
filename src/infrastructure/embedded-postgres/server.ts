import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { OutputLines, OutputTail } from '../child-process/process-output.js';
import type { SupervisedProcess } from '../child-process/supervisor.js';
import { EmbeddedPostgresError, environment, type Launcher, oneLine, REMEDY } from './account.js';
import { ADMINISTRATOR, readPidFile, signal } from './cluster.js';

/**
 * The shell script of the guardian, a process that runs the server and ends it with the service. Its standard input is
 * a pipe that the service holds open. The pipe ends when the service wants the server to end, and when the service
 * dies, even by SIGKILL. The guardian then asks the server to shut down fast. It repeats this every second, because a
 * server that is still starting ignores the signal. After 5 s it asks the server to quit without a checkpoint, and
 * after 2 more seconds it kills the server. The guardian ends with the server and with the same exit code. It ignores
 * signals to its process group, so that the server does not lose its guardian.
 */
const GUARDIAN = `
trap '' HUP INT TERM
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
(
  insist() { for second in $2; do kill -"$1" "$server" || exit 0; sleep 1; done; }
  while read -r ignored; do :; done <&3
  exec 2>/dev/null 3<&-
  insist INT '1 2 3 4 5'
  insist QUIT '1 2'
  kill -KILL "$server"
) &
watcher=$!
exec 3<&-
wait "$server"
code=$?
exec 2>/dev/null
kill -KILL "$watcher"
wait "$watcher"
exit "$code"
`;

const TAIL = 4_096;
const STOP_MS = 10_000;
/** The wait for the last output. After a kill of the guardian alone, the server still holds the pipe open. */
const REST_MS = 500;

export function launch(
  launcher: Launcher,
  command: readonly string[],
  onLine: (line: string) => void,
  variables: NodeJS.ProcessEnv = {},
): Omit<SupervisedProcess, 'ready'> {
  const [file, ...args] = [...launcher.prefix, '/bin/sh', '-c', GUARDIAN, 'tenon-postgres-guardian', ...command];
  const child = spawn(file as string, args, {
    ...launcher.ids,
    cwd: '/',
    env: { ...environment(), ...variables },
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true, // in a session of its own, so that Ctrl-C does not end it before the service has drained
  }) as ChildProcessByStdio<Writable, null, Readable>;
  const tail = follow(child.stderr, onLine);
  const gone = exitOf(child).then((exit) => `PostgreSQL ended (${exit}): ${oneLine(tail.text) || 'no output'}`);
  child.stdin.on('error', () => {}); // The guardian has ended, and `gone` resolves.
  return { pid: child.pid, gone, end: () => end(child, child.stdin, gone) };
}

/** Passes each line of `stream` to `onLine`. Returns an object that always has the end of the text. */
function follow(stream: Readable, onLine: (line: string) => void): OutputTail {
  const lines = new OutputLines(onLine);
  const tail = new OutputTail(TAIL);
  stream.on('data', (chunk: Buffer) => {
    tail.write(chunk);
    lines.write(chunk);
  });
  stream.on('error', () => {});
  return tail;
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const closed = new Promise((done) => child.once('close', done));
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      void Promise.race([closed, delay(REST_MS)]).then(() => resolve(signal ?? `exit code ${code}`));
    });
  });
}

async function end(child: ChildProcess, lifeline: Writable, gone: Promise<string>): Promise<void> {
  lifeline.end();
  const overdue = setTimeout(() => {
    // The guardian leads its process group, whose only other member is the server.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) signal(-child.pid, 'SIGKILL');
  }, STOP_MS);
  await gone;
  clearTimeout(overdue);
}

/** A part of the socket's name. The server listens on no port. */
export const PORT = 5432;
const ROLE = 'tenon';
const POLL_MS = 10;
const SILENCE_MS = 30_000;
const WRONG_PASSWORD = '28P01';

export interface Place {
  readonly cluster: string;
  readonly sockets: string;
  readonly password: string;
  readonly database: string;
}

type Address = Pick<Place, 'sockets' | 'password' | 'database'>;

/** Returns the URL. It names port and sslmode, so that PGPORT and PGSSLMODE of the environment do not apply. */
export function urlOf({ sockets, password, database }: Address, role: string = ROLE): string {
  const where = `host=${encodeURIComponent(sockets)}&sslmode=disable`;
  return `postgres://${role}:${password}@localhost:${PORT}/${encodeURIComponent(database)}?${where}`;
}

export async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Resolves when the database answers queries, and creates it if it is missing. Rejects when the server has ended, or
 * shows no progress for 30 seconds. A recovery after a crash may take longer, because the status `starting` counts as
 * progress.
 */
export async function untilReady(place: Place, gone: Promise<string>): Promise<void> {
  let end: string | undefined;
  void gone.then((reason) => {
    end = reason;
  });
  let last: unknown = new Error('PostgreSQL does not become ready');
  for (let silent = 0; end === undefined && silent < SILENCE_MS; silent += POLL_MS) {
    const status = readPidFile(place.cluster)?.status;
    if (status === 'starting') silent = 0;
    try {
      // The pid file of a killed server also says ready, but its socket is gone.
      if (status === 'ready') return await ensureDatabase(place);
    } catch (error) {
      if (error instanceof EmbeddedPostgresError) throw error;
      last = error;
    }
    await delay(POLL_MS);
  }
  throw end === undefined ? last : new Error(end);
}

/**
 * Creates the service's role and database if they are missing. The role may create databases. It is no superuser,
 * because a superuser can read and write files and start programs from SQL. Errors in the role's statements reach only
 * the service, not the server's log.
 */
async function ensureDatabase(place: Place): Promise<void> {
  const url = urlOf({ ...place, database: 'postgres' }, ADMINISTRATOR);
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {}); // The running query fails as well.
  try {
    await client.connect();
    const found = await client.query(
      `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS role,
              EXISTS (SELECT FROM pg_database WHERE datname = $2) AS database`,
      [ROLE, place.database],
    );
    const { role, database } = found.rows[0] as { role: boolean; database: boolean };
    if (!role) {
      await client.query(
        `CREATE ROLE ${ROLE} LOGIN CREATEDB PASSWORD ${escapeLiteral(place.password)};
         ALTER ROLE ${ROLE} SET log_min_messages = log`,
      );
    }
    if (!database) await client.query(`CREATE DATABASE ${escapeIdentifier(place.database)} OWNER ${ROLE}`);
  } catch (error) {
    if ((error as { code?: string }).code !== WRONG_PASSWORD) throw error;
    throw new EmbeddedPostgresError(
      `The file "password" of the data folder does not fit its database: restore the folder as a whole or ${REMEDY}.`,
    );
  } finally {
    await client.end().catch(() => {});
  }
}
