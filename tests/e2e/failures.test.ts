import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { PasswordHasher } from '../../src/application/accounts/ports/password-hasher.js';
import type { ChatRuntimes } from '../../src/application/chat/ports/chat-runtimes.js';
import { ChatRuntimes as ChatRuntimesPort } from '../../src/application/chat/ports/chat-runtimes.js';
import { type App, startApp } from '../../src/bootstrap/app.js';
import { loadConfig } from '../../src/bootstrap/config/config.js';
import { HashingBusy } from '../../src/domain/accounts/errors.js';
import { RuntimeInvalidResponse } from '../../src/domain/chat/errors.js';
import { InvalidRequest } from '../../src/domain/shared/errors.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { HttpCaller, note } from '../support/http-caller.js';
import { mailedToken } from '../support/mailbox.js';
import { Service, temporaryFolder, UNLIMITED } from '../support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  password,
  readyProject,
  register,
  registeredModel,
  untilState,
} from '../support/workspace.js';

describe('a service whose adapters fail', () => {
  let database: TestDatabase;
  let app: App;
  let api: HttpCaller;
  let fail: Error | null = null;
  let dataDir: string;
  let admin: Member;

  beforeAll(async () => {
    database = await freshDatabase();
    dataDir = await temporaryFolder();
    const config = loadConfig({
      SERVICE_DATA_DIR: dataDir,
      SERVICE_PORT: '0',
      SERVICE_BCRYPT_COST: '4',
      SERVICE_LOG_LEVEL: 'error',
      ...UNLIMITED,
      DATABASE_URL: database.url,
    });
    const failing = <T>(work: () => T): T => {
      if (fail) throw fail;
      return work();
    };
    app = await startApp(config, {
      adapt: (parts) => {
        const hasher = parts.get(PasswordHasher);
        parts.replace<PasswordHasher>(PasswordHasher, {
          hash: async (text) => failing(() => hasher.hash(text)),
          matches: async (text, hash) => failing(() => hasher.matches(text, hash)),
        });
        const runtimes: ChatRuntimes = {
          start: () => undefined,
          stop: async () => undefined,
          status: () => ({ state: 'ready', reason: null }),
          figures: () => new Map(),
          complete: async () => {
            throw fail ?? new RuntimeInvalidResponse('it is not a completion');
          },
          close: async () => undefined,
        };
        parts.replace(ChatRuntimesPort, runtimes);
      },
    });
    api = new HttpCaller(app.url);
    admin = await register(api, 'Ada');
  });
  afterAll(async () => {
    await app.stop();
    await database.drop();
  });
  afterEach(() => {
    fail = null;
  });

  it('says that the hashing lane is full', async () => {
    const email = 'ada@example.com';
    const { token } = admin;
    await api.post('/v1/auth/password/forgot', undefined, { email });
    const reset = await mailedToken({ dataDir }, email, 'tnr');
    fail = new HashingBusy();
    const calls = [
      api.post('/v1/auth/register', undefined, { name: 'Cid', email: 'cid@example.com', password }),
      api.post('/v1/auth/login', undefined, { email, password }),
      api.post('/v1/auth/password/reset', undefined, { token: reset, password }),
      api.call('PATCH', '/v1/auth/me', { token, json: { password: 'another one', current_password: password } }),
    ];
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'busy' } });
      expect(answer.headers.get('retry-after')).toBe('2');
    }
  });

  it('tells nothing of an unexpected failure but that it happened', async () => {
    fail = new Error('the inner detail of it');
    const { status, body } = await api.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    expect({ status, code: body.code }).toEqual({ status: 500, code: 'internal_error' });
    expect(JSON.stringify(body)).not.toContain('inner detail');
  });

  it('stays within the envelope where a refusal cannot be written', async () => {
    fail = new InvalidRequest([{ path: 'x', message: 1n as unknown as string }]);
    const { status, body } = await api.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    expect({ status, code: body.code }).toEqual({ status: 500, code: 'internal_error' });
    expect(Object.keys(body)).toEqual(['status', 'code', 'error', 'request_id']);
  });

  it('answers 502 for a runtime that answers nonsense', async () => {
    const project = await createProject(api, admin.token);
    const model = await registeredModel(api, admin.token, project);
    await api.put(`/v1/projects/${project}/runtime`, admin.token, { model_id: model });
    await api.post(`/v1/projects/${project}/runtime/start`, admin.token);
    const { status, body, headers } = await api.post(completions(project), admin.token, ask(project, 'Hi'));
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'runtime_invalid_response' });
    expect(headers.get('x-should-retry')).toBe('false');
  });
});

describe('a runtime that fails', () => {
  it('is unavailable with a reason, and the service lives on', async () => {
    const { cp, rm } = await import('node:fs/promises');
    const models = await temporaryFolder();
    await cp('models/tiny-chat', `${models}/broken`, { recursive: true });
    await rm(`${models}/broken/tokenizer.json`);
    const service = await Service.start({ env: { SERVICE_MODELS_DIR: models } });
    try {
      const admin = await register(service, 'Ada');
      const project = await createProject(service, admin.token);
      const model = await registeredModel(service, admin.token, project, { runtime: 'onnx', path: 'broken' });
      const runtime = `/v1/projects/${project}/runtime`;
      await service.put(runtime, admin.token, { model_id: model });
      await service.post(`${runtime}/start`, admin.token);
      await untilState(service, admin.token, project, 'unavailable');
      expect((await service.get(runtime, admin.token)).body.reason).toContain('tokenizer.json');
      const answer = await service.post(completions(project), admin.token, ask(project, 'Hi'));
      expect(answer).toMatchObject({ status: 503, body: { code: 'runtime_unavailable' } });
      await service.post(`${runtime}/stop`, admin.token);
      await rm(`${models}/broken`, { recursive: true });
      const gone = await service.post(`${runtime}/start`, admin.token);
      expect(gone).toMatchObject({ status: 422, body: { code: 'invalid_request', details: [{ path: 'spec.path' }] } });
      expect((await service.get(runtime, admin.token)).body.state).toBe('stopped');
    } finally {
      await service.stop();
      await rm(models, { recursive: true, force: true });
    }
  });
});

describe('a service that ends', () => {
  it('finishes what is in flight, refuses what is new, and exits with 0', async () => {
    const service = await Service.start({ alone: 'its end', env: { SERVICE_SHUTDOWN_TIMEOUT_S: '60' } });
    const admin = await register(service, 'Ada');
    const project = await readyProject(service, admin.token);
    const open = new Agent({ keepAlive: true });
    expect((await over(open, service, '/health/live')).status).toBe(200);
    const headers = { Authorization: `Bearer ${admin.apiKey}`, 'Content-Type': 'application/json' };
    const inFlight = request(service.url + completions(project), {
      method: 'POST',
      headers: { ...headers, Expect: '100-continue' },
    });
    inFlight.flushHeaders();
    await once(inFlight, 'continue'); // it has arrived, and goes on when the end has begun
    service.signal('SIGTERM');
    await untilClosed(service);
    const ready = await over(open, service, '/health/ready');
    expect(ready).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
    inFlight.end(JSON.stringify(ask(project, 'Count from 1 to 50.')));
    const [response] = await once(inFlight, 'response');
    const answer = (await json(response)) as { choices: { message: { content: string } }[] };
    expect(answer.choices[0]?.message.content).toMatch(/50\.$/);
    expect(await service.stop()).toBe(0);
    open.destroy();
  });
});

/** Knocks until the service takes no new connections. */
async function untilClosed(service: Service): Promise<void> {
  const { port } = new URL(service.url);
  for (let open = true; open; ) {
    open = await new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  }
}

async function over(agent: Agent, service: Service, path: string) {
  const sent = request(service.url + path, { agent }).end();
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  const answer = { status: response.statusCode as number, body: JSON.parse(text), headers: response.headers };
  note('GET', path, answer);
  return answer;
}
