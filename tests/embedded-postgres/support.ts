import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import {
  type EmbeddedPostgres,
  type Options,
  startEmbeddedPostgres,
} from '../../src/infrastructure/embedded-postgres/embedded-postgres.js';

export const isRoot = process.geteuid?.() === 0;
export const testAsRoot = isRoot ? test : test.skip;

const parents: string[] = [];
const servers: EmbeddedPostgres[] = [];

/** Returns the path of a new folder in a parent that is closed to others. */
export function newFolder(name = 'postgres'): string {
  const parent = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tenon-test-')));
  parents.push(parent);
  return path.join(parent, name);
}

/** Copies the folder of a stopped server, which is faster than a new database. */
export function copyOf(folder: string, name = 'postgres'): string {
  const copy = newFolder(name);
  fs.mkdirSync(path.dirname(copy), { recursive: true });
  execFileSync('cp', ['-a', folder, copy]);
  return copy;
}

export async function start(folder: string, options: Partial<Options> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ folder, ...options });
  servers.push(server);
  return server;
}

/** Stops all servers, also those that a failed test has left. */
export async function stopAll(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
}

export async function cleanUp(): Promise<void> {
  await stopAll();
  for (const parent of parents) {
    for (const [pid] of processesOf(parent)) process.kill(pid, 'SIGKILL');
    fs.rmSync(parent, { recursive: true, force: true, maxRetries: 5 });
  }
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

/** Returns pid and command line of the servers on `folder` and of their guardians. */
export function processesOf(folder: string): [number, string][] {
  return execFileSync('ps', ['-ww', '-e', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(`${folder}/`) && line.includes('/bin/postgres'))
    .map((line) => [Number.parseInt(line, 10), line.trim().replace(/^\d+ /, '')]);
}

export const postmasterPid = (folder: string): number =>
  Number.parseInt(fs.readFileSync(path.join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);

export async function until(condition: () => boolean | Promise<boolean>, ms = 5_000): Promise<void> {
  for (const deadline = performance.now() + ms; !(await condition()); await sleep(50)) {
    if (performance.now() > deadline) throw new Error(`not within ${ms} ms: ${condition}`);
  }
}
