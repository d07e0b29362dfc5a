import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Account, EmbeddedPostgresError, type Launcher, REMEDY, run, writePrivately } from './account.js';

/** The server's administrator. The service itself connects as the less powerful role `tenon`. */
export const ADMINISTRATOR = 'postgres';

const POLL_MS = 25;
/** The line of postmaster.pid that holds the status, counted from 0. */
const STATUS_LINE = 7;

/** The signals to a server that was left behind, with the milliseconds to wait after each. */
const ENDING = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 3_000],
  ['SIGKILL', 3_000],
] as const;

export const clusterFolder = (folder: string): string => path.join(folder, 'data');
const passwordFile = (folder: string): string => path.join(folder, 'password');
const pidFile = (cluster: string): string => path.join(cluster, 'postmaster.pid');

export function readPassword(folder: string): string {
  try {
    return fs.readFileSync(passwordFile(folder), 'utf8').trim();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const why =
      code === 'ENOENT' ? `There is no ${passwordFile(folder)}` : `${passwordFile(folder)} is closed to this user`;
    const message = `${why}: start the service on that data folder first, run as its owner, or ${REMEDY}.`;
    throw new EmbeddedPostgresError(message, { cause });
  }
}

/**
 * Creates the database files if there are none. They get their final name when complete, so an interrupted attempt leaves
 * nothing that looks like a database. The caller holds the lock on `folder`.
 */
export async function makeCluster(folder: string, account: Account, launcher: Launcher, initdb: string): Promise<void> {
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('unfinished-')) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  if (fs.existsSync(clusterFolder(folder))) return;
  writePrivately(account, passwordFile(folder), randomBytes(24).toString('base64url'));
  // The name is unique, because the initdb of an interrupted attempt may still be writing.
  const unfinished = path.join(folder, `unfinished-${randomBytes(4).toString('hex')}`);
  await run(launcher, [
    ...[initdb, '-D', unfinished, '-U', ADMINISTRATOR, `--pwfile=${passwordFile(folder)}`, '-A', 'scram-sha-256'],
    ...['-E', 'UTF8', '--locale=C', '--no-data-checksums', '--no-instructions'],
  ]);
  fs.renameSync(unfinished, clusterFolder(folder));
}

/** Throws if another major version of PostgreSQL made the files. This server could not read them. */
export function checkVersion(folder: string, own: string): void {
  const file = path.join(clusterFolder(folder), 'PG_VERSION');
  const found = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : 'of an unknown version';
  if (found === own) return;
  throw new EmbeddedPostgresError(
    `${clusterFolder(folder)} was made by PostgreSQL ${found} and this is PostgreSQL ${own}: ` +
      `dump it with that version and load it into a new data folder, or ${REMEDY}.`,
  );
}

/**
 * Returns the pid and the status that the server wrote to its pid file. A killed server leaves the file behind. The
 * status is the same in every language, unlike the log. The pid is undefined if the file is damaged, for example by a
 * power cut.
 */
export function readPidFile(cluster: string): { pid: number | undefined; status: string } | undefined {
  let lines: string[];
  try {
    lines = fs.readFileSync(pidFile(cluster), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const pid = Number.parseInt(lines[0] ?? '', 10);
  return { pid: pid > 0 ? pid : undefined, status: lines[STATUS_LINE]?.trim() ?? '' };
}

/**
 * Ends the server that a killed service left behind on the cluster. The caller holds the folder's lock, so no living
 * service uses that server. If an unrelated process has got the same pid since then, leaves it alone and returns the
 * pid.
 */
export async function endOrphan(cluster: string): Promise<number | undefined> {
  const found = readPidFile(cluster);
  if (!found) return undefined;
  const { pid } = found;
  if (pid === undefined) {
    fs.rmSync(pidFile(cluster), { force: true }); // PostgreSQL does not start on a damaged file.
    return undefined;
  }
  for (const [name, timeoutMs] of ENDING) {
    if (!isServerOf(cluster, pid)) break;
    signal(pid, name);
    for (let waited = 0; waited < timeoutMs && isServerOf(cluster, pid); waited += POLL_MS) await delay(POLL_MS);
  }
  if (isServerOf(cluster, pid)) {
    throw new EmbeddedPostgresError(
      `An earlier PostgreSQL (process ${pid}) on ${cluster} does not end: end it by hand or ${REMEDY}.`,
    );
  }
  return exists(pid) ? pid : undefined;
}

/** Checks by the command line whether `pid` is a server on the cluster. A zombie has no command line. */
function isServerOf(cluster: string, pid: number): boolean {
  try {
    if (process.platform === 'linux') {
      const [program = '', ...args] = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return path.basename(program) === 'postgres' && args.includes(cluster);
    }
    const command = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return command.includes(`/postgres -D ${cluster} `) && !command.startsWith('/bin/sh ');
  } catch {
    return false; // no such process
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A process that has ended is left alone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {}
}
