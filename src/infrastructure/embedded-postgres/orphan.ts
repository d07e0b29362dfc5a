import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError, REMEDY } from './failure.js';
import { pidFile, readPidFile } from './pid-file.js';

const POLL_MS = 25;

/**
 * Ends the server that a killed service left behind on this cluster; the caller holds the folder's lock, so no
 * living service uses it. Its pid file may name a process that got the number later: that one is left alone, and
 * its pid is answered.
 */
export async function endOrphan(cluster: string): Promise<number | undefined> {
  const found = readPidFile(cluster);
  if (!found) return undefined;
  const { pid } = found;
  if (pid === undefined) {
    fs.rmSync(pidFile(cluster), { force: true }); // At a damaged file PostgreSQL gives up.
    return undefined;
  }
  for (const [signal, patience] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 3_000],
    ['SIGKILL', 3_000],
  ] as const) {
    if (!isServerOf(cluster, pid)) break;
    signalQuietly(pid, signal);
    for (let waited = 0; waited < patience && isServerOf(cluster, pid); waited += POLL_MS) await sleep(POLL_MS);
  }
  if (isServerOf(cluster, pid)) {
    throw new EmbeddedPostgresError(
      `An earlier PostgreSQL (process ${pid}) on ${cluster} does not end: end it by hand or ${REMEDY}.`,
    );
  }
  return exists(pid) ? pid : undefined;
}

/** Whether `pid` is a server running on `cluster`, going by its command line; a zombie has none. */
function isServerOf(cluster: string, pid: number): boolean {
  if (!exists(pid)) return false;
  if (process.platform === 'linux') {
    const [program = '', ...args] = readOr('', `/proc/${pid}/cmdline`).split('\0');
    return path.basename(program) === 'postgres' && args.includes(cluster);
  }
  try {
    const command = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return command.includes(`/postgres -D ${cluster} `) && !command.startsWith('/bin/sh ');
  } catch {
    return false;
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

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}

function readOr(fallback: string, file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
}
