import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { RuntimeReconciler } from '../../src/application/chat/runtime-reconciler.js';
import { startApp } from '../../src/bootstrap/app.js';
import { loadConfig } from '../../src/bootstrap/config/config.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import { startEmbeddedPostgres } from '../../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { TypeOrmInstanceRegistry } from '../../src/infrastructure/typeorm/jobs/instance-registry.js';
import { tenon } from '../support/command-line.js';
import { freshDatabase } from '../support/database.js';
import { HttpCaller } from '../support/http-caller.js';
import { masterKey } from '../support/monitoring.js';
import { descendants, untilGone } from '../support/processes.js';
import { S3Server } from '../support/s3/s3-server.js';
import { launch, Service, type ServiceProcess, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  readyProject,
  register,
  untilState,
} from '../support/workspace.js';

/** The silence after which a caller may be disconnected. */
const SILENCE_NS = 100 * 1_000_000;

/** Returns the outcome of a call: `200`, a refusal such as `503 shutting_down close`, or a connection error. */
async function outcomeOf(agent: Agent, url: string, token: string): Promise<string> {
  try {
    const sent = request(url, { agent, headers: { Authorization: `Bearer ${token}` } }).end();
    const [response] = await once(sent, 'response');
    const { code } = (await json(response)) as { code?: string };
    return response.statusCode === 200 ? '200' : `${response.statusCode} ${code} ${response.headers.connection}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Starts the service in the process of the test. Returns the reason of its failure. */
async function failure(env: Record<string, string>): Promise<string> {
  const config = loadConfig({ SERVICE_PORT: '0', SERVICE_LOG_LEVEL: 'error', ...env });
  const started = startApp(config).then((app) => app.stop());
  return started.then(
    () => 'it started',
    (error: Error) => error.message,
  );
}

/** The tests run in order on one data folder with its embedded database. */
describe('a service with only a data folder', () => {
  const env = { SERVICE_MASTER_KEY: masterKey };
  let parent: string;
  let dataDir: string;
  let first: ServiceProcess;
  let second: Service;
  let admin: Member;
  let backup: string;
  /** The projects that were acknowledged before the backup began. */
  let backedUp: string[];
  beforeAll(async () => {
    parent = await temporaryFolder();
    dataDir = join(parent, 'with a space');
    backup = join(parent, 'under-load.backup');
    await mkdir(dataDir);
    first = launch({ dataDir, databaseUrl: null, env });
  });
  afterAll(async () => {
    first.child.kill('SIGKILL'); // unless a test has done this
    await first.ended;
    await second?.kill();
    await rm(parent, { recursive: true, force: true });
  });

  it('prints exactly the ready line, and refuses a second service on the same folder', async () => {
    const url = await first.ready;
    expect(first.output()).toBe(`ready ${url}\n`);
    expect(await failure({ SERVICE_DATA_DIR: dataDir })).toContain('Another Tenon');
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    for (const file of ['secret', 'tenon.log']) expect(modeOf(join(dataDir, file))).toBe('600');
  });

  it('keeps all acknowledged writes after kill -9, leaves no process behind, and resumes its runtimes', async () => {
    const api = new HttpCaller(await first.ready);
    const pid = first.child.pid as number;
    admin = await register(api, 'Ada');
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

    second = await Service.start({ dataDir, databaseUrl: null, env });
    for (const [n, id] of written.entries()) {
      expect(await second.get(`/v1/projects/${id}`, admin.token)).toMatchObject({ status: 200, body: { spec: { n } } });
    }
    await untilState(second, admin.token, project, 'ready');
    const answer = await second.post(completions(project), admin.apiKey, ask(project, 'What is 7 + 5?'));
    expect(answer.body.choices[0].message.content).toBe('7 + 5 = 12.');
  });

  it('is backed up under load', async () => {
    const uploaded = await second.call('PUT', '/v1/model-files/mine/config.json', {
      token: admin.token,
      raw: '{}',
      headers: { 'Content-Type': 'application/octet-stream' },
    });
    expect(uploaded.status).toBeLessThan(300);
    let loading = true;
    const acknowledged: string[] = [];
    const writer = async () => {
      for (; loading; await pause(5)) acknowledged.push(await createProject(second, admin.token));
    };
    const writers = [writer(), writer(), writer()];
    await until('some are acknowledged', () => acknowledged.length >= 20);
    backedUp = [...acknowledged];
    const backupRun = await tenon({ dataDir, databaseUrl: null }, ['backup', backup, '--with-models']);
    loading = false;
    await Promise.all(writers);
    expect(backupRun).toMatchObject({ code: 0, err: '' });
    expect(backupRun.out).toMatch(/ \d+ tables, \d+ model files inside, \d+ only listed\n/);
    expect(acknowledged.length).toBeGreaterThan(backedUp.length);
    const { body: audit } = await second.get('/v1/audit?action=database.backed_up', masterKey);
    expect(audit.entries).toEqual([
      expect.objectContaining({ actor: expect.objectContaining({ kind: 'command_line' }) }),
    ]);
    expect(await tenon({ dataDir, databaseUrl: null }, ['restore', backup])).toMatchObject({ code: 1 });
  });

  it('ends in order at SIGINT under load, and answers every call that arrives on a keep-alive connection', async () => {
    const left = descendants(second.pid);
    const outcomes = new Map<string, number>();
    const caller = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let outcome = '200'; outcome !== 'ECONNREFUSED'; ) {
        outcome = await outcomeOf(agent, `${second.url}/v1/projects?limit=1`, admin.token);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      agent.destroy();
    };
    const callers = Array.from({ length: 16 }, caller);
    const pauses = monitorEventLoopDelay({ resolution: 5 });
    await until('the load has begun', () => (outcomes.get('200') ?? 0) >= 100);
    pauses.enable();
    second.signal('SIGINT');
    expect(await second.ended).toBe(0);
    await Promise.all(callers);
    pauses.disable();
    outcomes.delete('503 shutting_down close');
    // Without processor time, a caller can be silent for longer than the service waits. Then its call comes too late.
    if (pauses.max > SILENCE_NS) for (const late of ['ECONNRESET', 'EPIPE']) outcomes.delete(late);
    expect([...outcomes.keys()].sort()).toEqual(['200', 'ECONNREFUSED']);
    await untilGone(left);
  });

  it('has every project of the backup when this is restored into another folder', async () => {
    const there = { dataDir: join(parent, 'elsewhere'), databaseUrl: null };
    await mkdir(there.dataDir);
    expect(await tenon(there, ['restore', backup])).toMatchObject({ code: 0, err: '' });
    expect(await tenon(there, ['restore', backup])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not empty'),
    });
    const service = await Service.start({ ...there, env });
    for (const id of backedUp) expect((await service.get(`/v1/projects/${id}`, admin.token)).status).toBe(200);
    expect((await service.get('/v1/status', admin.apiKey)).status).toBe(200);
    expect(await readFile(join(there.dataDir, 'models/mine/config.json'), 'utf8')).toBe('{}');
    expect(await readFile(join(there.dataDir, 'secret'))).toEqual(await readFile(join(dataDir, 'secret')));
    const { body } = await service.get('/v1/audit?action=database', masterKey);
    expect(body.entries.map(({ action }: { action: string }) => action)).toEqual(['database.restored']);
    expect(await service.stop()).toBe(0);
  });

  it('refuses a restore into its data folder while it runs, even without a secret and models there', async () => {
    for (const kept of ['secret', 'models']) await rm(join(dataDir, kept), { recursive: true });
    const server = await startEmbeddedPostgres({ folder: join(dataDir, 'postgres') });
    expect(await tenon({ dataDir, databaseUrl: null }, ['restore', backup])).toMatchObject({
      code: 1,
      err: expect.stringContaining('a service runs on the data folder'),
    });
    await server.stop();
  });
});

/** Node 20 begins with one line of warning. */
const withoutWarning = (errors: string) => errors.replace(/^tenon: Node 20.*\n/, '');

describe('a start that fails', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await temporaryFolder();
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  const NOWHERE = 'postgres://tenon:hidden@127.0.0.1:1/tenon';

  /** Listens on a free port. Accepts connections, but never answers. */
  async function silentServer(): Promise<{ server: Server; port: number; close: () => void }> {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as { port: number };
    const close = () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    };
    return { server, port, close };
  }

  it('names every bad setting in a line, also those of a .env file, and repeats no secret', async () => {
    await writeFile(join(dataDir, '.env'), 'SERVICE_PORT=ninety\nSERVICE_MAX_ACCOUNTS=none\n');
    const env = {
      SERVICE_PORT: 'eighty',
      SERVICE_BCRYPT_COST: '3',
      SERVICE_SECRET: 'short secret',
      SERVICE_REGISTRATION: 'closed',
      SERVICE_BASE_URL: 'tenon.example.com',
      SERVICE_MODELS_DIR: '/nothing/here',
      DATABASE_URL: 'mysql://user:hidden@db/x',
    };
    const { ended, errors, output } = launch({ dataDir, databaseUrl: null, env });
    expect({ code: await ended, output: output() }).toEqual({ code: 1, output: '' });
    const lines = withoutWarning(errors()).trim().split('\n');
    const names = [...Object.keys(env), 'SERVICE_MAX_ACCOUNTS'].sort();
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(names);
    expect(lines.join()).toContain('"eighty"');
    expect(lines.join()).not.toMatch(/ninety|short secret|hidden/);
    await rm(join(dataDir, '.env'));
  });

  it('says that the port is taken', async () => {
    const { port, close } = await silentServer();
    const database = await freshDatabase();
    const env = { SERVICE_DATA_DIR: dataDir, SERVICE_PORT: String(port), DATABASE_URL: database.url };
    expect(await failure(env)).toContain(`127.0.0.1:${port}`);
    close();
    await database.drop();
  });

  it('names a database that does not answer, or cannot be reached in time, without its password', async () => {
    const { port, close } = await silentServer();
    for (const at of [port, 1]) {
      const DATABASE_URL = NOWHERE.replace(':1/', `:${at}/`);
      const message = await failure({ SERVICE_DATA_DIR: dataDir, DATABASE_URL, SERVICE_DATABASE_WAIT_S: '0.5' });
      expect(message).toMatch(new RegExp(`^the database 127.0.0.1:${at}/tenon \\(DATABASE_URL\\)`));
      expect(message).not.toContain('hidden');
    }
    close();
  });

  it.each([
    [TypeOrmInstanceRegistry, 'own', new Error('timeout exceeded when trying to connect')],
    [RuntimeReconciler, 'applyAll', new StorageUnavailable()],
  ] as const)(
    'waits for a database that is out of reach for a moment during the start: %p',
    async (step, name, reason) => {
      const database = await freshDatabase();
      const failing = jest.spyOn(step.prototype as never, name as never).mockRejectedValueOnce(reason as never);
      const config = loadConfig({ SERVICE_DATA_DIR: dataDir, SERVICE_PORT: '0', DATABASE_URL: database.url });
      const app = await startApp(config);
      expect((await fetch(`${app.url}/health/ready`)).status).toBe(200);
      await app.stop();
      failing.mockRestore();
      await database.drop();
    },
  );

  it('ends at SIGTERM while it waits for its database', async () => {
    const { child, ended, errors } = launch({ dataDir, databaseUrl: NOWHERE });
    await until('it waits', () => withoutWarning(errors()) !== '');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('names the setting of a folder or a log that cannot be used', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    for (const [name, value] of [
      ['SERVICE_DATA_DIR', file],
      ['SERVICE_DATA_DIR', '/proc/nope'],
      ['SERVICE_LOG_FILE', join(file, 'log')],
    ] as const) {
      const message = await failure({ SERVICE_DATA_DIR: dataDir, [name]: value });
      expect(message).toContain(name);
      expect(message).not.toContain('\n');
    }
  });
});

it('serves also when nobody can read its output', async () => {
  const [dataDir, database] = [await temporaryFolder(), await freshDatabase()];
  const { child, ended, errors } = launch({ dataDir, databaseUrl: database.url });
  child.stdout?.destroy();
  const url = () => /"event":"ready","url":"([^"]+)"/.exec(errors())?.[1];
  await until('it is ready', () => url() !== undefined);
  expect((await new HttpCaller(url() as string).get('/health/ready')).status).toBe(200);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  await database.drop();
  await rm(dataDir, { recursive: true });
});

const modeOf = (path: string) => execFileSync('stat', ['-c', '%a', path], { encoding: 'utf8' }).trim();

it('removes at the start what an upload to a bucket has left behind that kill -9 ended', async () => {
  const store = await S3Server.start();
  const database = await freshDatabase();
  const folders = [await temporaryFolder(), await temporaryFolder()];
  const env = { ...store.env, SERVICE_MASTER_KEY: masterKey, SERVICE_SECRET: 'a-secret-of-several-instances' };
  const start = (dataDir?: string) =>
    Service.start({ dataDir, databaseUrl: database.url, env, alone: 'it is killed and replaced by another one' });
  try {
    await store.beginUpload('team/of-another-program.onnx');
    const killed = await start(folders[0]);
    const headers = { Authorization: `Bearer ${masterKey}`, 'Content-Type': 'application/octet-stream' };
    const sent = request(`${killed.url}/v1/model-files/cut.onnx`, { method: 'PUT', headers });
    sent.on('error', () => undefined).write(Buffer.alloc(10 * 1024 ** 2));
    await until('the first part is there', () => store.unfinished === 2);
    await killed.kill();
    const next = await start(folders[1]); // as on another machine
    await until('the first part is gone', () => store.unfinished === 1);
    expect(await next.stop()).toBe(0);
  } finally {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
    await database.drop();
    await store.stop();
  }
});
