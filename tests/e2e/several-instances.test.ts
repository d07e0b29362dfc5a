import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { instanceLimits } from '../../src/application/operations/ports.js';
import { version } from '../../src/interfaces/version.js';
import { atOnce } from '../support/barrier.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import type { HttpCaller } from '../support/http-caller.js';
import { FLOAT, onnxFile } from '../support/onnx/onnx-graph.js';
import { descendants, untilGone } from '../support/processes.js';
import { ReadyInstances } from '../support/ready-instances.js';
import { chunk, ScriptedEngine, sendEvents } from '../support/scripted-engine.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until, within } from '../support/until.js';
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

const path = '/v1/deployments';

const doubling = onnxFile({
  inputs: [['x', FLOAT, ['n', 2]]],
  outputs: [['y', FLOAT, ['n', 2]]],
  nodes: [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }],
});

/** Each test continues from the state of the test before. */
describe('two instances on one database', () => {
  let database: TestDatabase;
  let engine: ScriptedEngine;
  let dataDir: string;
  let instances: Service[];
  let admin: Member;
  let project: string;
  let deployment: string;

  const [ONE, TWO] = [0, 1];
  const at = (nth: number) => instances[nth] as Service;
  const start = (nth: number) =>
    Service.start({
      alone: 'it is one of several',
      databaseUrl: database.url,
      dataDir,
      env: {
        SERVICE_INSTANCE_NAME: `instance-${nth}`,
        SERVICE_DRAIN_DELAY_S: '2',
        SERVICE_SHUTDOWN_TIMEOUT_S: '60',
        SERVICE_MAX_CHILDREN: '2', // a runtime and a deployment
        SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host,
      },
    });

  beforeAll(async () => {
    database = await freshDatabase();
    engine = await ScriptedEngine.start();
    dataDir = await temporaryFolder();
    await mkdir(join(dataDir, 'models'));
    await writeFile(join(dataDir, 'models/doubling.onnx'), doubling);
    instances = [await start(ONE)]; // creates the secret that both share
    instances.push(await start(TWO));
    admin = await register(at(ONE), 'Ada');
    project = await createProject(at(ONE), admin.token);
    await at(TWO).put(runtime(), admin.token, { model_id: await registeredModel(at(ONE), admin.token, project) });
  });
  afterAll(async () => {
    await Promise.all(instances.map((one) => one.stop()));
    await engine.close();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const runtime = (action = '') => `/v1/projects/${project}/runtime${action}`;
  const deploy = (one: HttpCaller) => one.post(path, admin.token, { name: 'doubling', model_path: 'doubling.onnx' });
  const read = async (one: HttpCaller) => (await one.get(`${path}/${deployment}`, admin.token)).body;
  const runs = (one: HttpCaller, status = 'running') =>
    until(`the deployment is ${status}`, async () => (await read(one)).status === status, 50);
  const predict = (one: HttpCaller) =>
    one.post(`${path}/${deployment}/predict`, admin.token, { inputs: { x: [[1, 2]] } });
  const chat = (one: HttpCaller, headers: Record<string, string> = {}, token = admin.apiKey) =>
    one.call('POST', completions(project), { token, json: ask(project, 'What is 7 + 5?'), headers });
  const children = () => instances.flatMap(({ pid }) => descendants(pid));
  /** Makes calls on every instance at once, and returns their different outcomes. */
  const everywhere = async (call: (one: HttpCaller) => ReturnType<HttpCaller['call']>) => {
    const answers = await atOnce(12, (party) => call(at(party % 2)));
    return [...new Set(answers.map(({ status, body }) => `${status} ${body.code ?? ''}`.trim()))];
  };
  const newestPrediction = async () =>
    (await at(ONE).get('/v1/jobs?kind=prediction&limit=1', admin.token)).body.jobs[0];

  it('both serve a deployment that was created on one, and answer the chats of a runtime that was started on one', async () => {
    const creating = deploy(at(ONE));
    expect((await at(ONE).post(runtime('/start'), admin.token)).status).toBe(200);
    const { status, body } = await creating;
    expect({ status, error: body.error, instance: body.instance }).toEqual({ status: 201, instance: 'instance-0' });
    deployment = body.id;
    for (const early of [await predict(at(TWO)), await chat(at(TWO))]) {
      expect([200, 503]).toContain(early.status);
      if (early.status === 503) expect(early.body.code).toBe('runtime_loading');
      expect(early.headers.get('retry-after')).toBe(early.status === 503 ? '1' : null);
    }
    for (const [nth, one] of instances.entries()) {
      const instance = `instance-${nth}`;
      await runs(one);
      await untilState(one, admin.token, project, 'ready');
      expect((await one.get(runtime(), admin.token)).body).toMatchObject({ state: 'ready', reason: null, instance });
      expect(await read(one)).toMatchObject({ status: 'running', reason: null, instance });
      expect((await one.get('/v1/status', admin.token)).body.instance).toBe(instance);
    }
    const outputs = { y: { data: [2, 4], shape: [1, 2] } };
    const urls = await Promise.all(instances.map(async (one) => (await read(one)).url));
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) {
      const headers = { 'Content-Type': 'application/json' };
      const sent = { method: 'POST', headers, body: JSON.stringify({ inputs: { x: [[1, 2]] } }) };
      expect(await (await fetch(`${url}/predict`, sent)).json()).toMatchObject({ outputs });
    }
    for (const one of instances) expect(await predict(one)).toMatchObject({ status: 200, body: { outputs } });
    const kept = await chat(at(TWO), { 'X-Conversation-Id': 'new' });
    expect(kept).toMatchObject({ status: 200, body: { choices: [{ message: { content: '7 + 5 = 12.' } }] } });
    const conversation = `/v1/projects/${project}/conversations/${kept.headers.get('x-conversation-id')}`;
    expect((await at(ONE).get(conversation, admin.token)).body.message_count).toBe(2);
    expect(children()).toHaveLength(4);
    // The process lives longer than the request that started it, so its log lines have no request id.
    const started = at(ONE)
      .errors.split('\n')
      .find((line) => line.includes('deployment process started'));
    expect(JSON.parse(started as string)).not.toHaveProperty('request_id');
  });

  /** Returns the instances that `one` lists, by name. */
  const listed = async (one: HttpCaller) => {
    const { instances: all } = (await one.get('/v1/status', admin.token)).body;
    return new Map(all.map((each: { name: string }) => [each.name, each])) as Map<string, Record<string, unknown>>;
  };

  it('list each other with their models', async () => {
    const { model_id } = (await at(ONE).get(runtime(), admin.token)).body;
    const models = {
      runtimes: [{ project_id: project, model_id, state: 'ready', waiting: 0 }],
      deployments: [{ deployment_id: deployment, status: 'running' }],
    };
    for (const [nth, one] of instances.entries()) {
      const known = (name: string) => {
        const figures = { since: expect.any(Number), waiting_calls: 0, memory_bytes: expect.any(Number) };
        return { name, version, ...figures, answering: name === `instance-${nth}`, state: 'ready', ...models };
      };
      let found = await listed(one);
      const agrees = async () => {
        found = await listed(one);
        return [...found.values()].every((each) => /"ready","waiting".*"running"/.test(JSON.stringify(each)));
      };
      await until('all have reported that their models are ready', agrees, 200);
      expect([...found.values()]).toEqual([known('instance-0'), known('instance-1')]);
    }
  });

  it('refuse to start more child processes than an instance may have', async () => {
    const refused = {
      status: 503,
      body: { code: 'runtime_unavailable', error: expect.stringContaining('SERVICE_MAX_CHILDREN') },
    };
    expect(await deploy(at(TWO))).toMatchObject(refused);
    const other = await createProject(at(ONE), admin.token);
    const otherRuntime = `/v1/projects/${other}/runtime`;
    const model = await registeredModel(at(ONE), admin.token, other);
    await at(ONE).put(otherRuntime, admin.token, { model_id: model });
    expect(await at(TWO).post(`${otherRuntime}/start`, admin.token)).toMatchObject(refused);
    const { model_id } = (await at(ONE).get(runtime(), admin.token)).body;
    const fallbacks = [await registeredModel(at(ONE), admin.token, project)];
    expect(await at(TWO).put(runtime(), admin.token, { model_id, fallbacks })).toMatchObject(refused);
    expect((await at(TWO).get(otherRuntime, admin.token)).body.state).toBe('stopped');
    expect((await at(TWO).post(runtime('/start'), admin.token)).status).toBe(200); // it runs already
    expect((await at(TWO).get(path, admin.token)).body.count).toBe(1);
  });

  it('end the streams of a revoked key within two seconds, also if another instance has revoked it', async () => {
    const elsewhere = await readyProject(at(ONE), admin.token, {
      runtime: 'openai',
      base_url: engine.url,
      model: 'm',
    });
    await untilState(at(TWO), admin.token, elsewhere, 'ready');
    const answers: ServerResponse[] = [];
    engine.script = (_, response) => {
      sendEvents(response, chunk('m', { role: 'assistant', content: 'Hello' }));
      answers.push(response);
    };
    const stream = async (token: string) => {
      const json = ask(elsewhere, 'Hi', { stream: true });
      const text = at(TWO).call('POST', '/openai/v1/chat/completions', { token, json });
      await engine.wasAsked(answers.length + 1);
      return { text: text.then(({ body }) => body as string) };
    };
    const login = await at(ONE).post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const revoked = await stream(login.body.api_key);
    const other = await stream(admin.apiKey);
    const [ofRevoked, ofOther] = answers as [ServerResponse, ServerResponse];
    const leftEngine = once(ofRevoked, 'close');
    const [key] = (await at(ONE).get('/v1/keys', admin.token)).body.keys;
    expect((await at(ONE).delete(`/v1/keys/${key.id}`, admin.token)).status).toBe(200);
    expect(await within(4_000, () => revoked.text)).toBe(true); // twice the promise, for a busy machine
    expect(await revoked.text).toMatch(/Hello.*"code":"unauthenticated"/s);
    await leftEngine;
    sendEvents(ofOther, chunk('m', {}, 'stop'), '[DONE]');
    ofOther.end();
    expect(await other.text).toMatch(/Hello.*\[DONE\]/s);
    const { jobs } = (await at(ONE).get(`/v1/jobs?kind=chat&project_id=${elsewhere}`, admin.token)).body;
    expect(jobs).toMatchObject([
      { status: 'succeeded' },
      { status: 'cancelled', error: expect.stringMatching(/^unauthenticated/) },
    ]);
  });

  /** Ends an instance while a call is in flight. The call has no body before the drain delay is over. */
  async function drained(one: Service): Promise<void> {
    const headers = {
      Authorization: `Bearer ${admin.apiKey}`,
      'Content-Type': 'application/json',
      Expect: '100-continue',
    };
    const inFlight = request(one.url + completions(project), { method: 'POST', headers });
    inFlight.flushHeaders();
    await once(inFlight, 'continue'); // the call has arrived, and continues during the shutdown
    one.signal('SIGTERM');
    let ready = await one.get('/health/ready');
    while (ready.status === 200) ready = await one.get('/health/ready');
    expect(ready).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
    const { status, headers: sent } = await one.get('/v1/projects', admin.token);
    expect({ status, connection: sent.get('connection') }).toEqual({ status: 200, connection: 'close' });
    const other = instances.find((each) => each !== one) as Service;
    const isDraining = async () => (await listed(other)).get('instance-0')?.state === 'draining';
    await until('the other instance knows that it drains', isDraining);
    expect((await one.get('/health/live')).status).toBe(200);
    const refusesConnections = () =>
      one.get('/health/live').then(
        () => false,
        () => true,
      );
    await until('the service refuses new connections', refusesConnections);
    inFlight.end(JSON.stringify(ask(project, 'Count from 1 to 50.')));
    const [response] = await once(inFlight, 'response');
    const { choices } = (await json(response)) as { choices: { message: { content: string } }[] };
    expect(choices[0]?.message.content).toMatch(/50\.$/);
    expect(await one.ended).toBe(0);
    expect([...(await listed(other)).keys()]).toEqual(['instance-1']);
  }

  it('lose no call while they are restarted one after another, and finish the calls in flight', async () => {
    const proxy = new ReadyInstances(() => instances);
    const failures: unknown[] = [];
    let [calls, restarting] = [0, true];
    const callers = [chat, predict].map(async (call) => {
      for (; restarting; calls++) {
        const answer = await call(proxy).catch((error: Error) => ({ status: 0, body: error.message }));
        if (answer.status !== 200) failures.push(answer);
        await pause(250);
      }
    });
    await drained(at(ONE));
    instances[ONE] = await start(ONE);
    expect(await at(TWO).stop()).toBe(0);
    instances[TWO] = await start(TWO);
    restarting = false;
    await Promise.all(callers);
    expect(failures).toEqual([]);
    expect(calls).toBeGreaterThan(20);
    expect(children()).toHaveLength(4);
  }, 180_000);

  it('continue without a killed instance and end its calls; it starts again even without a model file', async () => {
    const doomed = descendants(at(TWO).pid);
    for (const pid of doomed) process.kill(pid, 'SIGSTOP');
    expect((await read(at(TWO))).status).toBe('unhealthy');
    const open = predict(at(TWO));
    open.catch(() => undefined);
    await until('the call has begun', async () => (await newestPrediction())?.status === 'running');
    const { id } = await newestPrediction();
    const killed = performance.now();
    await at(TWO).kill();
    await expect(open).rejects.toThrow();
    const isGone = async () => !(await listed(at(ONE))).has('instance-1');
    const gone = until('it is not listed any more', isGone, 200).then(() => performance.now() - killed);
    // A stopped process cannot see that its parent is gone. Only with setpriv, the kernel ends it.
    if (!existsSync('/usr/bin/setpriv')) for (const pid of doomed) process.kill(pid, 'SIGCONT');
    await until(
      'the call is closed',
      async () => {
        expect([(await chat(at(ONE))).status, (await predict(at(ONE))).status]).toEqual([200, 200]);
        return (await at(ONE).get(`/v1/jobs/${id}`, admin.token)).body.status === 'failed';
      },
      500,
    );
    expect(performance.now() - killed).toBeLessThan(20_000);
    expect(await gone).toBeLessThan(instanceLimits.livesMs + 1_000);
    await untilGone(doomed);

    await rm(join(dataDir, 'models/doubling.onnx'));
    instances[TWO] = await start(TWO);
    // The instance is ready although one model cannot be loaded.
    expect((await chat(at(TWO))).status).toBe(200);
    await runs(at(TWO), 'crash_looping');
    expect((await read(at(TWO))).reason).toContain('no such file');
    expect((await predict(at(TWO))).body.code).toBe('runtime_unavailable');
    expect((await predict(at(ONE))).status).toBe(200);
  });

  it('refuse every call after a stop, disconnection, deletion or revocation, also if one instance hung', async () => {
    const login = await at(ONE).post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const chatWithKey = (one: HttpCaller) => chat(one, {}, login.body.api_key);
    expect(await everywhere(chatWithKey)).toEqual(['200']);
    const [key] = (await at(ONE).get('/v1/keys', admin.token)).body.keys;
    expect((await at(ONE).delete(`/v1/keys/${key.id}`, admin.token)).status).toBe(200);
    expect(await everywhere(chatWithKey)).toEqual(['401 unauthenticated']);
    expect((await at(TWO).post(runtime('/stop'), admin.token)).body).toMatchObject({ state: 'stopped' });
    expect(await everywhere(chat)).toEqual(['503 runtime_stopped']);
    expect((await at(ONE).delete(runtime(), admin.token)).status).toBe(200);
    expect(await everywhere(chat)).toEqual(['503 runtime_not_connected']);
    await until('their workers are gone', () => children().length === 1);

    const hung = at(TWO);
    hung.signal('SIGSTOP');
    const calls = [predict(hung), chat(hung)];
    expect((await at(ONE).delete(`${path}/${deployment}`, admin.token)).status).toBe(200);
    expect((await predict(at(ONE))).body.code).toBe('not_found');
    expect((await at(ONE).delete(`/v1/projects/${project}`, admin.token)).status).toBe(200);
    hung.signal('SIGCONT');
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([404, 404]);
    await until('no child is left', () => children().length === 0);
  });
});
