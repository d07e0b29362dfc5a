import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { unprivilegedAccount } from '../../src/infrastructure/embedded-postgres/account.js';
import { completeLinks, packagedBinaries } from '../../src/infrastructure/embedded-postgres/binaries.js';
import { embeddedPostgresUrl } from '../../src/infrastructure/embedded-postgres/embedded-postgres.js';
import {
  cleanUp,
  copyOf,
  isRoot,
  newFolder,
  postmasterPid,
  processesOf,
  query,
  start,
  stopAll,
  testAsRoot,
  until,
} from './support.js';

const stopped = newFolder();
const children: ChildProcess[] = [];

beforeAll(async () => {
  const server = await start(stopped);
  await query(server.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (7); CREATE TABLE acknowledged (n int)');
  await server.stop();
});
afterEach(stopAll);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await cleanUp();
});

const status = (folder: string, field: string): string | undefined =>
  new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(fs.readFileSync(`/proc/${postmasterPid(folder)}/status`, 'utf8'))?.[1];

/** Checks whether the owner of `folder` can reach it and PostgreSQL's programs, which may lie in a closed folder. */
function reachesAll(folder: string): boolean {
  const { uid, gid } = fs.statSync(folder);
  const script = 'test -x "$1" && test -x "$2"';
  const initdb = path.join(packagedBinaries(), 'bin', 'initdb');
  return spawnSync('/bin/sh', ['-c', script, 'sh', folder, initdb], { uid, gid, cwd: '/' }).status === 0;
}

test('a stopped server keeps its data, and its URL can be read from its folder', async () => {
  const server = await start(stopped);
  expect(await query(embeddedPostgresUrl(stopped), 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  expect(embeddedPostgresUrl(stopped)).toBe(server.url);
  await Promise.all([server.stop(), server.stop()]);
  await expect(query(server.url, 'SELECT 1')).rejects.toThrow();
});

test('the server listens on no port, refuses a wrong password, and sees none of the service’s secrets', async () => {
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

test('the service’s role can create databases, but cannot read files of the server', async () => {
  const server = await start(stopped, { database: 'an other"one' });
  expect(await query(server.url, 'SELECT current_database() AS name')).toEqual([{ name: 'an other"one' }]);
  await query(server.url, 'CREATE DATABASE third');
  await expect(query(server.url, `SELECT pg_read_file('/etc/passwd')`)).rejects.toThrow('permission denied');
  await server.stop();
});

test('the path may have spaces, commas and quotes, and may be too long for a socket', async () => {
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

  // The path of the socket folder already belongs to something else.
  fs.rmSync(path.join(long, 'socket-folder'));
  fs.symlinkSync(os.homedir(), sockets);
  await expect(start(long)).rejects.toThrow(/is not a private folder .* DATABASE_URL/);
  fs.rmSync(sockets);
});

test('a second start on a folder in use is refused, and the first server keeps running', async () => {
  const first = await start(stopped);
  const pid = postmasterPid(stopped);
  await expect(start(stopped)).rejects.toThrow(
    new RegExp(`^Another Tenon \\(process ${process.pid}\\) already runs on the data folder .*DATABASE_URL`),
  );
  expect(await query(first.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  expect(postmasterPid(stopped)).toBe(pid);
  await first.stop();
});

test('exactly one of several simultaneous starts on a folder succeeds', async () => {
  const folder = copyOf(stopped);
  const results = await Promise.allSettled([start(folder), start(folder), start(folder)]);
  expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
});

test('an interrupted first start is repeated without a logged error', async () => {
  const folder = newFolder();
  const lines: string[] = [];
  const log = (_event: string, fields: object = {}) => void lines.push(JSON.stringify(fields));
  fs.mkdirSync(path.join(folder, 'unfinished-1', 'base'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'password'), 'of the interrupted start');
  if (isRoot) execFileSync('chown', ['-R', '65534:65534', folder]);
  const server = await start(folder, { log: { info: log, warn: log } });
  expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await expect(query(server.url, 'SELECT FROM missing')).rejects.toThrow('missing');
  expect(lines.join()).not.toMatch(/ERROR|FATAL|WARNING/);
  expect(fs.readdirSync(folder).sort()).toEqual(['data', 'password', 'run']);
  await server.stop();
});

testAsRoot(
  'as root, the server runs as another user, which has one capability if folders are closed to it, otherwise none',
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

describe('when a process dies', () => {
  /** Much longer than needed, because the machine may be busy. */
  const PATIENCE_MS = 15_000;

  let folder: string;
  beforeAll(() => {
    folder = copyOf(stopped);
  });

  /** Writes rows and prints the acknowledged ones. Runs from the build, without jest. */
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

  /** Runs SERVICE until 50 rows are acknowledged. Returns its process and the last acknowledged row. */
  async function service(): Promise<{ child: ChildProcess; last: () => number }> {
    await queryOnce('TRUNCATE acknowledged');
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

  async function queryOnce(sql: string): Promise<Record<string, unknown>[]> {
    const server = await start(folder);
    const rows = await query(server.url, sql);
    await server.stop();
    return rows;
  }

  const nothingLeft = (): Promise<void> => until(() => processesOf(folder).length === 0, PATIENCE_MS);

  /** Recognizes a guardian: a shell with the command line of the server as its arguments. */
  const isGuardian = (command: string): boolean => command.startsWith('/bin/sh ');

  function kill(pid: number): void {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // The process has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  const closed = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('close', resolve));

  test('the server ends with a service killed by SIGKILL, and every acknowledged row is kept', async () => {
    const { child, last } = await service();
    const end = closed(child);
    child.kill('SIGKILL');
    await end;
    await nothingLeft();
    const [row] = await queryOnce('SELECT count(*)::int AS rows FROM acknowledged');
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
    const [row] = await queryOnce('SELECT count(*)::int AS rows FROM acknowledged');
    expect(row?.rows).toBeGreaterThanOrEqual(last());
    await nothingLeft();
  });

  test('a pid file that is damaged or has the id of another process does not prevent a start', async () => {
    const { uid, gid } = fs.statSync(folder); // PostgreSQL ignores the processes of other users.
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
      expect(await queryOnce('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    }
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });

  test.each([
    [
      'server',
      (command: string) => !isGuardian(command),
      /^embedded database unavailable .*exit code 137.*ready to accept/,
    ],
    ['guardian', isGuardian, /^embedded database unavailable .*SIGKILL/],
  ])('a killed %s is started again', async (_, isVictim, announcement) => {
    const lines: string[] = [];
    const log = (event: string, fields: object = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`);
    const server = await start(folder, { log: { info: log, warn: log } });
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
    await server.stop();
    await nothingLeft();
  });

  test('a stop while the server is down leaves nothing behind', async () => {
    const server = await start(folder);
    process.kill(postmasterPid(folder), 'SIGKILL');
    await server.stop();
    await nothingLeft();
  });
});

describe('the conditions of a start', () => {
  test.each([
    ['win32', 'x64'],
    ['linux', 'riscv64'],
  ])('a platform without binaries (%s-%s) needs another server', (platform, arch) => {
    expect(() => packagedBinaries(platform, arch)).toThrow(new RegExp(`${platform}-${arch}.*DATABASE_URL`));
  });

  test('files of another major version are refused and left unchanged', async () => {
    const folder = newFolder();
    fs.mkdirSync(path.join(folder, 'data'), { recursive: true });
    fs.writeFileSync(path.join(folder, 'data', 'PG_VERSION'), '9\n');
    await expect(start(folder)).rejects.toThrow(/made by PostgreSQL 9 and this is PostgreSQL \d+: .*DATABASE_URL/);
    expect(fs.readdirSync(path.join(folder, 'data'))).toEqual(['PG_VERSION']);
  });

  test('a folder in which no server was started has no URL', () => {
    expect(() => embeddedPostgresUrl(newFolder())).toThrow(/start the service .*DATABASE_URL/);
  });

  test('root starts the server as the user postgres, or else as the user nobody', () => {
    const passwd = 'root:x:0:0::/:/bin/sh\nnobody:*:-2:-2::/:/bin/false\n';
    expect(unprivilegedAccount(passwd)).toEqual({ uid: 0xfffffffe, gid: 0xfffffffe, drop: true });
    expect(unprivilegedAccount(`${passwd}postgres:x:101:104::/:/bin/sh`)).toMatchObject({ uid: 101, gid: 104 });
    expect(() => unprivilegedAccount('root:x:0:0::/:/bin/sh')).toThrow('DATABASE_URL');
  });

  test('missing links between libraries are created, also if some exist', () => {
    const native = path.join(newFolder(), 'native');
    fs.mkdirSync(path.join(native, 'lib'), { recursive: true });
    fs.writeFileSync(path.join(native, 'lib', 'a.so.1.2'), 'a');
    const links = ['a.so.1', 'a.so'].map((name) => ({ source: 'native/lib/a.so.1.2', target: `native/lib/${name}` }));
    fs.writeFileSync(path.join(native, 'pg-symlinks.json'), JSON.stringify(links));
    fs.symlinkSync('a.so.1.2', path.join(native, 'lib', 'a.so'));
    completeLinks(native);
    completeLinks(native);
    expect(links.map(({ target }) => fs.readFileSync(path.join(native, '..', target), 'utf8'))).toEqual(['a', 'a']);
  });

  testAsRoot('a folder that root has created is refused to an ordinary user', () => {
    const folder = newFolder();
    fs.mkdirSync(folder);
    fs.chmodSync(path.dirname(folder), 0o755);
    // The clone and its files may be closed to other users, so this uses a copy of the code.
    const code = path.join(path.dirname(folder), 'code');
    fs.cpSync(path.resolve(__dirname, '../../dist/src/infrastructure/embedded-postgres'), code, { recursive: true });
    execFileSync('chown', ['-R', '65534:65534', code]);
    const claim = `try { require(process.argv[1]).claimFolder(process.argv[2]) } catch (e) { console.log(e.message) }`;
    const output = execFileSync(process.execPath, ['-e', claim, path.join(code, 'account.js'), folder], {
      ...{ uid: 65534, gid: 65534, cwd: '/', encoding: 'utf8' as const },
    });
    expect(output).toMatch(/belongs to root, this process runs as user 65534: .*DATABASE_URL/);
  });
});
