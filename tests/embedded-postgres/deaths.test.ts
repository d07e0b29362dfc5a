import { type ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { cleanUp, newFolder, postmasterPid, processesOf, query, start, until } from './support.js';

const folder = newFolder();
const children: ChildProcess[] = [];

/** Much longer than it takes: other work on the machine is no fault of these processes. */
const PATIENCE_MS = 15_000;
jest.setTimeout(5 * PATIENCE_MS);

beforeAll(async () => {
  const server = await start(folder);
  await query(server.url, 'CREATE TABLE acknowledged (n int)');
  await server.stop();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await cleanUp();
});

/** A service that writes rows and says which ones were acknowledged; the build's own code, since no jest is there. */
const SERVICE = `
const { startEmbeddedPostgres } = require('./dist/src/infrastructure/embedded-postgres/embedded-postgres.js');
const { Client } = require('pg');
startEmbeddedPostgres({ folder: process.argv[1] }).then(async ({ url }) => {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  for (let n = 1; ; n += 1) {
    await client.query('INSERT INTO acknowledged VALUES ($1)', [n]);
    process.stdout.write(n + '\\n');
  }
}).catch((error) => { console.error(error.message); process.exitCode = 1; });
`;

/** Runs that service until 50 rows are acknowledged; answers how to kill it and the last row of which it told. */
async function service(): Promise<{ child: ChildProcess; last: () => number }> {
  await query0('TRUNCATE acknowledged');
  const root = path.resolve(__dirname, '../..');
  const child = spawn(process.execPath, ['-e', SERVICE, folder], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let last = 0;
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    last = Number(line);
  });
  await until(() => last >= 50 || child.exitCode !== null, PATIENCE_MS);
  expect(child.exitCode).toBeNull();
  return { child, last: () => last };
}

async function query0(sql: string): Promise<Record<string, unknown>[]> {
  const server = await start(folder);
  const rows = await query(server.url, sql);
  await server.stop();
  return rows;
}

const nothingLeft = (): Promise<void> => until(() => processesOf(folder).length === 0, PATIENCE_MS);

/** The guardian's command line goes on with the server's, whose path may have spaces in it. */
const isGuardian = (command: string): boolean => command.startsWith('/bin/sh ');

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It ended since it was listed.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const closed = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('close', resolve));

test('a service killed by SIGKILL takes its server with it, and every acknowledged row is there again', async () => {
  const { child, last } = await service();
  const end = closed(child);
  child.kill('SIGKILL');
  await end;
  await nothingLeft();
  const [row] = await query0('SELECT count(*)::int AS rows FROM acknowledged');
  expect(row?.rows).toBeGreaterThanOrEqual(last());
});

test.each([
  ['everything', () => true],
  ['everything but the server itself', isGuardian],
])('after SIGKILL of %s at once, the next start has every acknowledged row', async (_, dies) => {
  const { child, last } = await service();
  const end = closed(child);
  child.kill('SIGKILL');
  for (const [pid, command] of processesOf(folder)) if (dies(command)) kill(pid);
  await end;
  const [row] = await query0('SELECT count(*)::int AS rows FROM acknowledged');
  expect(row?.rows).toBeGreaterThanOrEqual(last());
  await nothingLeft();
});

test('a pid file that names a living stranger or is damaged holds up nothing', async () => {
  const { uid, gid } = fs.statSync(folder); // PostgreSQL itself takes no notice of another user's process.
  const stranger = spawn('sleep', ['60'], { uid, gid });
  children.push(stranger);
  const file = path.join(folder, 'data', 'postmaster.pid');
  const lines = [
    stranger.pid,
    path.join(folder, 'data'),
    '1',
    '5432',
    path.join(folder, 'run'),
    '',
    '1 1',
    'ready',
    '',
  ];
  for (const content of [lines.join('\n'), '']) {
    fs.writeFileSync(file, content);
    expect(await query0('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  }
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
});

test.each([
  [
    'server',
    (command: string) => !isGuardian(command),
    /^PostgreSQL is down and starts again in \d+ ms\. .*exit code 137.*ready to accept/,
  ],
  ['guardian', isGuardian, /^PostgreSQL is down and starts again in \d+ ms\. .*SIGKILL/],
])('a killed %s comes back by itself', async (_, isVictim, announcement) => {
  const lines: string[] = [];
  const server = await start(folder, { log: (line) => lines.push(line) });
  const before = postmasterPid(folder);
  const victims = processesOf(folder).filter(([, command]) => isVictim(command));
  process.kill(Math.min(...victims.map(([pid]) => pid)), 'SIGKILL');
  await until(() => lines.some((line) => announcement.test(line)), PATIENCE_MS);
  await until(
    () =>
      query(server.url, 'SELECT 1').then(
        () => postmasterPid(folder) !== before,
        () => false,
      ),
    PATIENCE_MS,
  );
  expect(lines.join()).not.toContain('\n');
  await server.stop();
  await nothingLeft();
});

test('stopping while the server is down leaves nothing behind', async () => {
  const server = await start(folder);
  process.kill(postmasterPid(folder), 'SIGKILL');
  await server.stop();
  await nothingLeft();
});
