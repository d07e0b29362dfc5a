import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { note } from '../support/http-caller.js';
import { descendants } from '../support/processes.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  readyProject,
  register,
  registeredModel,
  untilState,
} from '../support/workspace.js';

describe('a runtime that fails', () => {
  let models: string;
  let service: Service;
  let admin: Member;
  beforeAll(async () => {
    models = await temporaryFolder();
    await cp('models/tiny-chat', `${models}/tiny-chat`, { recursive: true });
    await cp('models/tiny-chat', `${models}/broken`, { recursive: true });
    await rm(`${models}/broken/tokenizer.json`);
    service = await Service.start({ env: { SERVICE_MODELS_DIR: models, SERVICE_INFERENCE_TIMEOUT_S: '2' } });
    admin = await register(service, 'Ada');
  });
  afterAll(async () => {
    await service.stop();
    await rm(models, { recursive: true, force: true });
  });

  it('is given up after the time-out where it is slow, stays ready, and holds up nothing else', async () => {
    const project = await readyProject(service, admin.token);
    const chat = (question: string) => service.post(completions(project), admin.apiKey, ask(project, question));
    const [model] = service.pids.flatMap(descendants) as [number];
    process.kill(model, 'SIGSTOP');
    const calls = [chat('Count from 1 to 50.'), chat('Count from 1 to 50.')];
    for (let n = 0; n < 20; n++) expect((await service.get('/health/live')).status).toBe(200);
    const late = await Promise.all(calls);
    process.kill(model, 'SIGCONT');
    for (const { status, body, headers } of late) {
      expect({ status, code: body.code }).toEqual({ status: 504, code: 'inference_timeout' });
      expect(headers.get('x-should-retry')).toBe('false');
    }
    expect((await service.get(`/v1/projects/${project}/runtime`, admin.token)).body.state).toBe('ready');
    await until('it answers', async () => (await chat('What is 1 + 1?')).status === 200);
  });

  it('is unavailable with a reason where its model is broken, and the service lives on', async () => {
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
