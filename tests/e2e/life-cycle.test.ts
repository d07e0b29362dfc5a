import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { freshDatabase } from '../support/database.js';
import { HttpCaller } from '../support/http-caller.js';
import { descendants, untilGone } from '../support/processes.js';
import { launch, Service, type ServiceProcess, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import { ask, completions, createProject, readyProject, register, untilState } from '../support/workspace.js';

describe('a service with nothing but a data folder', () => {
  let parent: string;
  let dataDir: string;
  let first: ServiceProcess;
  beforeAll(async () => {
    parent = await temporaryFolder();
    dataDir = join(parent, 'with a space');
    await mkdir(dataDir);
    first = launch({ dataDir, databaseUrl: null });
  });
  afterAll(async () => {
    first.child.kill('SIGKILL'); // where no test has
    await first.ended;
    await rm(parent, { recursive: true, force: true });
  });

  it('prints exactly the ready line, and refuses a second service on the same folder', async () => {
    const url = await first.ready;
    expect(first.output()).toBe(`ready ${url}\n`);
    const second = launch({ dataDir, databaseUrl: null });
    expect(await second.ended).toBe(1);
    expect(second.errors()).toContain('Another Tenon');
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    for (const file of ['secret', 'tenon.log']) expect(modeOf(join(dataDir, file))).toBe('600');
  });

  it('has after kill -9 all that was acknowledged, leaves no process behind, and resumes its runtimes', async () => {
    const api = new HttpCaller(await first.ready);
    const pid = first.child.pid as number;
    const admin = await register(api, 'Ada');
    const project = await readyProject(api, admin.token);
    const written: string[] = [];
    const writer = (async () => {
      for (;;) written.push(await createProject(api, admin.token, { n: written.length }));
    })().catch(() => undefined);
    await until('five are acknowledged', () => written.length >= 5);
    const children = descendants(pid);
    expect(children.length).toBeGreaterThanOrEqual(3);
    first.child.kill('SIGKILL');
    await first.ended;
    await writer;
    await untilGone(children);

    const second = await Service.start({ dataDir, databaseUrl: null });
    for (const [n, id] of written.entries()) {
      expect(await second.get(`/v1/projects/${id}`, admin.token)).toMatchObject({ status: 200, body: { spec: { n } } });
    }
    await untilState(second, admin.token, project, 'ready');
    const answer = await second.post(completions(project), admin.apiKey, ask(project, 'What is 7 + 5?'));
    expect(answer.body.choices[0].message.content).toBe('7 + 5 = 12.');
    const left = descendants(second.pid);
    second.signal('SIGINT');
    expect(await second.ended).toBe(0);
    await untilGone(left);
  });
});

describe('a start that cannot be', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await temporaryFolder();
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  const failing = async (env: Record<string, string>) => {
    const { ended, errors, output } = launch({ dataDir, databaseUrl: null, env });
    expect({ code: await ended, output: output() }).toEqual({ code: 1, output: '' });
    return errors().trim().split('\n');
  };

  it('names every bad setting, a line each, also of a .env file under the environment, and repeats no secret', async () => {
    await writeFile(join(dataDir, '.env'), 'SERVICE_PORT=ninety\nSERVICE_MAX_ACCOUNTS=none\n');
    const lines = await failing({
      SERVICE_PORT: 'eighty',
      SERVICE_BCRYPT_COST: '3',
      SERVICE_SECRET: 'short secret',
      SERVICE_REGISTRATION: 'closed',
      SERVICE_BASE_URL: 'tenon.example.com',
      SERVICE_MODELS_DIR: '/nothing/here',
      DATABASE_URL: 'mysql://user:hidden@db/x',
    });
    const names = lines.map((line) => line.split(' ')[0]).sort();
    expect(names).toEqual([
      'DATABASE_URL',
      'SERVICE_BASE_URL',
      'SERVICE_BCRYPT_COST',
      'SERVICE_MAX_ACCOUNTS',
      'SERVICE_MODELS_DIR',
      'SERVICE_PORT',
      'SERVICE_REGISTRATION',
      'SERVICE_SECRET',
    ]);
    expect(lines.join()).toContain('"eighty"');
    expect(lines.join()).not.toMatch(/ninety|short secret|hidden/);
    await rm(join(dataDir, '.env'));
  });

  it('says that the port is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const database = await freshDatabase();
    const lines = await failing({ SERVICE_PORT: String(port), DATABASE_URL: database.url });
    expect(lines.at(-1)).toContain(`127.0.0.1:${port}`);
    other.close();
    await database.drop();
  });

  it('is given up in time where the database says nothing, and names it', async () => {
    const sockets: Socket[] = [];
    const silent = createTcpServer((socket) => sockets.push(socket.on('error', () => undefined)));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const DATABASE_URL = `postgres://tenon:hidden@127.0.0.1:${port}/tenon`;
    const lines = await failing({ DATABASE_URL, SERVICE_DATABASE_WAIT_S: '1' });
    expect(lines.at(-1)).toMatch(/^the database 127.0.0.1:\d+\/tenon \(DATABASE_URL\)/);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('names a database that stays out of reach, without its password', async () => {
    const env = { DATABASE_URL: 'postgres://tenon:hidden@127.0.0.1:1/tenon', SERVICE_DATABASE_WAIT_S: '0.5' };
    const lines = await failing(env);
    expect(lines.at(-1)).toContain('127.0.0.1:1/tenon');
    expect(lines.join()).not.toContain('hidden');
  });

  it('ends at SIGTERM while it waits for its database', async () => {
    const { child, ended } = launch({ dataDir, databaseUrl: 'postgres://tenon:x@127.0.0.1:1/tenon' });
    await once(child.stderr as NodeJS.ReadableStream, 'data');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('says in a line what is wrong with its folder or its log', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    for (const [name, value] of [
      ['SERVICE_DATA_DIR', file],
      ['SERVICE_DATA_DIR', '/proc/nope'],
      ['SERVICE_LOG_FILE', join(file, 'log')],
    ] as const)
      expect(await failing({ [name]: value })).toEqual([expect.stringContaining(name)]);
  });
});

const modeOf = (path: string) => execFileSync('stat', ['-c', '%a', path], { encoding: 'utf8' }).trim();
