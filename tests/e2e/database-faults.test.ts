import type { ServerResponse } from 'node:http';
import { CutOffProxy } from '../support/cut-off-proxy.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { HttpCaller } from '../support/http-caller.js';
import { masterKey } from '../support/monitoring.js';
import { chunk, ScriptedEngine, sendEvents } from '../support/scripted-engine.js';
import { launch, type ServiceProcess, temporaryFolder } from '../support/service.js';
import { ask, createProject, type Member, password, readyProject, register } from '../support/workspace.js';

jest.setTimeout(120_000); // each silence takes as long as the service waits for an answer

/** Counts the connections that an instance keeps: its advisory lock, and LISTEN of the work queue. */
const OWN_CONNECTIONS = 2;

/** Pauses a caller after a refusal. Without this, almost all answers would be refusals. */
const REFUSED_PAUSE_MS = 100;

/** The tests run in order on one process. */
describe('a service with a database out of reach', () => {
  let database: TestDatabase;
  let proxy: CutOffProxy;
  let engine: ScriptedEngine;
  let running: ServiceProcess;
  let api: HttpCaller;
  let admin: Member;

  beforeAll(async () => {
    database = await freshDatabase();
    proxy = await CutOffProxy.before(database.url);
    proxy.cut();
    engine = await ScriptedEngine.start();
    const env = { SERVICE_MASTER_KEY: masterKey, SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host };
    running = launch({ dataDir: await temporaryFolder(), databaseUrl: proxy.url, env });
  });
  afterAll(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
    await proxy.close();
    await engine.close();
    await database.drop();
  });

  const figure = async (name: string) => {
    const { body } = await api.get('/metrics', masterKey);
    const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(body)?.[1];
    return found === undefined ? null : Number(found);
  };

  /** Runs 24 callers, more than there are connections, until `over`. Counts each outcome. */
  const load = (over: () => boolean) => {
    const outcomes = new Map<string, number>();
    const caller = async (n: number) => {
      for (let round = n; !over(); round++) {
        const { status, body } = await (round % 2
          ? api.get('/v1/auth/me', admin.token)
          : api.post('/v1/projects', admin.token, { name: 'load' }));
        const outcome = status < 300 ? 'done' : `${status} ${body.code}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (status >= 300) await new Promise((resolve) => setTimeout(resolve, REFUSED_PAUSE_MS));
      }
    };
    return { outcomes, ended: Promise.all(Array.from({ length: 24 }, (_, n) => caller(n))) };
  };

  const recovered = () => eventually(async () => (await api.get('/health/ready')).status === 200);

  const nothingLeaked = () =>
    eventually(async () => {
      const [total, idle, waiting] = [
        await figure('tenon_database_pool_connections'),
        await figure('tenon_database_pool_idle_connections'),
        await figure('tenon_database_pool_waiting_requests'),
      ] as [number, number, number];
      return total - idle <= OWN_CONNECTIONS && waiting === 0;
    });

  it('waits for the database at its start, and becomes ready once the database answers', async () => {
    await eventually(() => running.errors().includes('waiting for the database'));
    expect(running.output()).toBe('');
    proxy.reopen();
    api = new HttpCaller(await running.ready);
    admin = await register(api, 'Ada');
  });

  it.each(['cut', 'silence'] as const)(
    'answers 503 storage_unavailable without load (%s), and recovers',
    async (fault) => {
      proxy[fault]();
      const calls = [
        api.get('/v1/auth/me', admin.token),
        api.get('/v1/status', admin.apiKey),
        api.get('/health/ready'),
        api.post('/v1/auth/login', undefined, { email: 'ada@example.com', password }),
      ];
      for (const { status, body, headers } of await Promise.all(calls)) {
        expect({ status, code: body.code }).toEqual({ status: 503, code: 'storage_unavailable' });
        expect(headers.get('retry-after')).toBe('2');
      }
      expect((await api.get('/health/live')).status).toBe(200);
      expect(await figure('tenon_database_up')).toBe(0);
      proxy.reopen();
      await recovered();
      expect((await api.get('/v1/auth/me', admin.token)).status).toBe(200);
      await nothingLeaked();
    },
  );

  it.each(['cut', 'silence'] as const)(
    'answers only 503 storage_unavailable under load (%s), recovers, and loses no connection',
    async (fault) => {
      let over = false;
      const { outcomes, ended } = load(() => over);
      await eventually(() => (outcomes.get('done') ?? 0) > 100);
      proxy[fault]();
      await eventually(() => (outcomes.get('503 storage_unavailable') ?? 0) >= 24);
      proxy.reopen();
      const before = outcomes.get('done') ?? 0;
      await eventually(() => (outcomes.get('done') ?? 0) > before + 100);
      over = true;
      await ended;
      expect([...outcomes.keys()].sort()).toEqual(['503 storage_unavailable', 'done']);
      await nothingLeaked();
      await eventually(async () => {
        const [row] = await query<{ n: number }>(
          database.url,
          `SELECT count(*)::integer AS n FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'
            AND pid <> pg_backend_pid()`,
        );
        return row?.n === 0;
      });
    },
  );

  it('ends no stream because it cannot check the permission of its caller', async () => {
    const project = await readyProject(api, admin.token, { runtime: 'openai', base_url: engine.url, model: 'm' });
    let answer: ServerResponse | undefined;
    engine.script = (_, response) => {
      answer = response;
      sendEvents(response, chunk('m', { role: 'assistant', content: 'Hello' }));
    };
    const { body } = await fetch(`${api.url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${admin.apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(ask(project, 'Hi', { stream: true })),
    });
    let text = '';
    const read = (async () => {
      for await (const piece of body as ReadableStream<Uint8Array>) text += Buffer.from(piece);
    })();
    await eventually(() => text.includes('Hello'));
    proxy.cut();
    await eventually(() => running.errors().includes('permissions of running calls could not be checked'));
    sendEvents(answer as ServerResponse, chunk('m', { content: ' there' }));
    await eventually(() => text.includes(' there'));
    proxy.reopen();
    await recovered();
    sendEvents(answer as ServerResponse, chunk('m', {}, 'stop'), '[DONE]');
    answer?.end();
    await read;
    expect(text).toContain('[DONE]');
  });

  it('has survived all faults in one process, and shuts down in order even while the database is silent', async () => {
    expect(running.child.exitCode).toBeNull();
    const project = await createProject(api, admin.token);
    expect((await api.get(`/v1/projects/${project}`, admin.token)).status).toBe(200);
    proxy.silence();
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
  });
});
