import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { packagedBinaries } from '../../src/infrastructure/embedded-postgres/binaries.js';
import { embeddedPostgresUrl } from '../../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { cleanUp, copyOf, isRoot, newFolder, postmasterPid, query, start, testAsRoot } from './support.js';

const stopped = newFolder();

beforeAll(async () => {
  const server = await start(stopped);
  await query(server.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)');
  await server.stop();
});
afterAll(cleanUp);

const status = (folder: string, field: string): string | undefined =>
  new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(fs.readFileSync(`/proc/${postmasterPid(folder)}/status`, 'utf8'))?.[1];

/** Whether the owner of `folder` gets to it and to the programs without help: a clone may lie in a closed folder. */
function reachesAll(folder: string): boolean {
  const { uid, gid } = fs.statSync(folder);
  const script = 'test -x "$1" && test -x "$2"';
  const initdb = path.join(packagedBinaries(), 'bin', 'initdb');
  return spawnSync('/bin/sh', ['-c', script, 'sh', folder, initdb], { uid, gid, cwd: '/' }).status === 0;
}

test('a stopped server keeps its data, and its URL is known to other processes', async () => {
  const server = await start(stopped);
  expect(await query(embeddedPostgresUrl(stopped), 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  expect(embeddedPostgresUrl(stopped)).toBe(server.url);
  await Promise.all([server.stop(), server.stop()]);
  await expect(query(server.url, 'SELECT 1')).rejects.toThrow();
});

test('it listens on no port, answers nobody without the password, and sees none of the service’s secrets', async () => {
  process.env.A_SECRET_OF_THE_SERVICE = 'x';
  const server = await start(stopped);
  try {
    expect(await query(server.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
    await expect(query(server.url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow('password');
    expect(fs.statSync(path.join(stopped, 'run')).mode & 0o777).toBe(0o700);
    expect(fs.statSync(path.join(stopped, 'password')).mode & 0o777).toBe(0o600);
    if (process.platform !== 'linux') return;
    const environment = fs.readFileSync(`/proc/${postmasterPid(stopped)}/environ`, 'utf8').split('\0');
    expect(environment.map((entry) => entry.split('=')[0])).not.toContain('A_SECRET_OF_THE_SERVICE');
  } finally {
    delete process.env.A_SECRET_OF_THE_SERVICE;
    await server.stop();
  }
});

test('the service’s role makes databases but reads no files of the server', async () => {
  const server = await start(stopped, { database: 'an other"one' });
  expect(await query(server.url, 'SELECT current_database() AS name')).toEqual([{ name: 'an other"one' }]);
  await query(server.url, 'CREATE DATABASE third');
  await expect(query(server.url, `SELECT pg_read_file('/etc/passwd')`)).rejects.toThrow('permission denied');
  await server.stop();
});

test('a path with spaces, commas and quotes, and one too long for a socket', async () => {
  const odd = copyOf(stopped, `it's a "data", folder`);
  const server = await start(odd);
  expect(await query(server.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  await server.stop();

  const long = copyOf(stopped, path.join('x'.repeat(90), 'postgres'));
  const distant = await start(long);
  const url = embeddedPostgresUrl(long);
  const sockets = new URL(url).searchParams.get('host') as string;
  try {
    expect(path.dirname(sockets)).toBe(os.tmpdir());
    expect(fs.statSync(sockets).mode & 0o777).toBe(0o700);
    expect(await query(url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  } finally {
    await distant.stop();
    fs.rmSync(sockets, { recursive: true });
  }

  // Somebody else got there first.
  fs.rmSync(path.join(long, 'socket-folder'));
  fs.symlinkSync(os.homedir(), sockets);
  await expect(start(long)).rejects.toThrow(/is not a private folder .* DATABASE_URL/);
  fs.rmSync(sockets);
});

test('a second start on a folder in use is refused and leaves the first alone', async () => {
  const first = await start(stopped);
  const pid = postmasterPid(stopped);
  await expect(start(stopped)).rejects.toThrow(
    new RegExp(`^Another Tenon \\(process ${process.pid}\\) already runs on the data folder .*DATABASE_URL`),
  );
  expect(await query(first.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  expect(postmasterPid(stopped)).toBe(pid);
  await first.stop();
});

test('of several starts at once on a new folder all get their turn or a refusal', async () => {
  const folder = copyOf(stopped);
  const results = await Promise.allSettled([start(folder), start(folder), start(folder)]);
  expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
});

test('an interrupted first start is taken up again', async () => {
  const folder = newFolder();
  fs.mkdirSync(path.join(folder, 'unfinished-1', 'base'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'password'), 'of the interrupted start');
  if (isRoot) execFileSync('chown', ['-R', '65534:65534', folder]);
  const server = await start(folder);
  expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(fs.readdirSync(folder).sort()).toEqual(['data', 'password', 'run']);
  await server.stop();
});

testAsRoot(
  'as root the server is another user’s, with one capability only where it has to pass closed folders',
  async () => {
    const closed = await start(stopped);
    expect(status(stopped, 'Uid')).not.toBe('0');
    expect(reachesAll(stopped)).toBe(false);
    expect(Number.parseInt(status(stopped, 'CapEff') as string, 16)).toBe(1 << 2);
    await closed.stop();

    const folder = copyOf(stopped);
    fs.chmodSync(path.dirname(folder), 0o755);
    const open = await start(folder);
    expect(status(folder, 'Uid')).not.toBe('0');
    expect(Number.parseInt(status(folder, 'CapEff') as string, 16)).toBe(reachesAll(folder) ? 0 : 1 << 2);
    await open.stop();
    expect(fs.statSync(path.dirname(folder)).mode & 0o777).toBe(0o755);
  },
);
