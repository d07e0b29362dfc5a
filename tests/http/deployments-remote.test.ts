import { DeploymentReconciler } from '../../src/application/deployments/deployment-reconciler.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import { barrier } from '../support/barrier.js';
import { type Answering, answeringWith, doubling, InferenceEngine, sendBinary } from '../support/inference-engine.js';
import { sendJson } from '../support/local-server.js';
import { type Member, register } from '../support/workspace.js';
import { invalid, refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const path = '/v1/deployments';
const KEY = 'the-key-of-the-engine';
const y = { name: 'y', datatype: 'FP32', shape: [1, 2], data: [2, 4] };
const own = { inputs: { x: [[1, 2]] } };
const protocol = { inputs: [{ name: 'x', datatype: 'FP32', shape: [1, 2], data: [1, 2] }] };

describe('deployments of engines elsewhere', () => {
  let engine: InferenceEngine;
  let app: TestApp;
  let admin: Member;

  beforeAll(async () => {
    engine = await InferenceEngine.start();
    app = await TestApp.start({
      env: {
        SERVICE_RUNTIME_ALLOWED_HOSTS: `127.0.0.1,${engine.host}`,
        SERVICE_RUNTIME_KEY_ENGINE: `${KEY}`,
        SERVICE_DEPLOYMENT_START_TIMEOUT_S: '2',
        SERVICE_INFERENCE_TIMEOUT_S: '3',
      },
    });
    admin = await register(app, 'Ada');
    await app.verifyEmails();
  });
  afterAll(async () => {
    await app.container.get(ModelServer).close();
    await app.stop();
    await engine.close();
  });
  afterEach(async () => {
    const { body } = await app.get(path, admin.token);
    for (const { id } of body.deployments) await app.delete(`${path}/${id}`, admin.token);
    engine.reset();
  });

  const create = (over: object = {}) =>
    app.post(path, admin.token, { name: 'iris', endpoint: engine.url, model_name: 'double', ...over });
  const created = async (over: object = {}) => {
    const { status, body } = await create(over);
    expect({ status, body }).toMatchObject({ status: 201 });
    return body;
  };
  const predict = (id: string, body: object = own) => app.post(`${path}/${id}/predict`, admin.apiKey, body);
  const jobs = async () =>
    (await app.get('/v1/jobs', admin.token)).body.jobs.map((job: { status: string }) => job.status);

  it('are created, read, listed, called and deleted', async () => {
    const body = await created({ endpoint: `${engine.url}/`, model_version: '2' });
    expect(body).toEqual({
      id: expect.stringMatching(/^dep_/),
      name: 'iris',
      kind: 'remote',
      model_path: null,
      port: engine.port,
      url: engine.url,
      status: 'running',
      created_at: expect.any(Number),
      reason: null,
      restarts: 0,
      instance: expect.any(String),
      max_batch: null,
      max_delay_ms: null,
      endpoint: engine.url,
      model_name: 'double',
      model_version: '2',
      key_setting: null,
      prices: null,
    });
    expect((await app.get(path, admin.token)).body).toEqual({ deployments: [body], count: 1 });
    engine.answering = (asked, response) => doubling(asked, response, { model_version: '2' });
    expect(await predict(body.id)).toMatchObject({
      status: 200,
      body: { outputs: { y: { data: [2, 4], shape: [1, 2], datatype: 'FP32' } } },
    });
    expect(engine.asked[0]).toMatchObject({ path: '/v2/models/double/versions/2/infer', json: protocol });
    expect(await predict(body.id, { ...protocol, id: 'mine' })).toMatchObject({
      status: 200,
      body: { id: 'mine', model_name: 'iris', model_version: '2', outputs: [y] },
    });
    expect(await jobs()).toEqual(['succeeded', 'succeeded']);
    expect((await app.get(`${path}/${body.id}/logs`, admin.token)).body).toEqual({ lines: [], count: 0 });
    const audit = (await app.get('/v1/audit?action=deployment.created', admin.token)).body.entries[0];
    expect(audit.details).toEqual({ endpoint: engine.url, model_name: 'double', model_version: '2' });
    engine.ready.clear();
    expect((await app.get(`${path}/${body.id}`, admin.token)).body).toMatchObject({
      status: 'unhealthy',
      reason: expect.stringContaining('not ready'),
      restarts: 0,
    });
    expect((await app.delete(`${path}/${body.id}`, admin.token)).body).toEqual({ id: body.id, deleted: true });
    expect((await predict(body.id)).status).toBe(404);
  });

  it.each([
    ['endpoint', { endpoint: 'nowhere' }],
    ['endpoint', { endpoint: '' }],
    ['endpoint', { endpoint: 'ftp://127.0.0.1' }],
    ['endpoint', { endpoint: 'http://me@127.0.0.1' }],
    ['endpoint', { endpoint: 'http://@127.0.0.1' }],
    ['endpoint', { endpoint: 'http://127.0.0.1/?x=1' }],
    ['endpoint', { endpoint: 'http://localhost:80' }],
    ['endpoint', { endpoint: 'http://169.254.169.254' }],
    ['endpoint', { model_path: 'iris.onnx' }],
    ['model_path', { endpoint: null, model_name: null }],
    ['model_name', { model_name: null }],
    ['model_name', { model_name: '..' }],
    ['model_name', { model_name: 'x'.repeat(201) }],
    ['model_version', { model_version: '' }],
    ['model_name', { endpoint: null, model_path: 'iris.onnx' }],
    ['max_batch', { max_batch: 8 }],
    ['key_setting', { key_setting: 'SERVICE_SECRET' }],
    ['key_setting', { key_setting: 'SERVICE_RUNTIME_KEY_OTHER' }],
    ['name', { name: ' ' }],
  ])('are refused with a bad %s (%#), before the engine is asked', async (at, over) => {
    expect(await create(over)).toMatchObject(invalid(at));
    expect(engine.requests).toEqual([]);
  });

  it('leave no row if the endpoint does not serve the model', async () => {
    const cases: [object, string][] = [
      [{ model_name: 'other' }, 'not ready, after 2 s'],
      [{ endpoint: 'http://127.0.0.1:1' }, 'refuses connections'],
    ];
    for (const [over, reason] of cases) {
      const answer = await create(over);
      expect({ over, ...answer }).toMatchObject({ over, ...refusal(422, 'endpoint_invalid') });
      expect(answer.body.error).toContain(reason);
    }
    engine.key = KEY;
    expect((await create()).body).toMatchObject({
      code: 'endpoint_invalid',
      error: expect.stringContaining('the key'),
    });
    expect((await app.get(path, admin.token)).body.count).toBe(0);
  });

  it('follow no redirect, and accept no HTML page as an engine', async () => {
    engine.override = (_, response) => response.writeHead(307, { Location: `${engine.url}/v2` }).end();
    expect((await create()).body.error).toContain('redirects');
    engine.override = (_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>');
    expect((await create()).body.code).toBe('endpoint_invalid');
    engine.override = (_, response) => sendJson(response, 200, { name: 'double', ready: false });
    expect((await create()).body.code).toBe('endpoint_invalid');
  });

  it('send their engine its key, and show the key to nobody else', async () => {
    engine.key = KEY;
    const { id } = await created({ key_setting: 'SERVICE_RUNTIME_KEY_ENGINE' });
    expect((await predict(id)).status).toBe(200);
    engine.answering = (_, response) => sendJson(response, 400, { error: `not with ${KEY}` });
    expect(JSON.stringify(await predict(id))).not.toContain(KEY);
    expect(JSON.stringify(app.logger)).not.toContain(KEY);
  });

  it('load their model, and unload it when no other deployment uses it', async () => {
    engine.repository = 200;
    engine.ready.clear();
    const [one, other] = [await created(), await created({ name: 'other', model_version: '1' })];
    const third = await created({ model_name: 'a model/é' });
    await app.delete(`${path}/${one.id}`, admin.token);
    expect([...engine.ready]).toEqual(['double', 'a model/é']);
    await app.delete(`${path}/${other.id}`, admin.token);
    expect([...engine.ready]).toEqual(['a model/é']);
    expect((await predict(third.id)).status).toBe(200);
    await app.container.get(ModelServer).stop(third.id); // as a shutdown does
    expect(engine.count('/unload')).toBe(1);
  });

  it('are created if the engine refuses to load but the model is ready', async () => {
    engine.repository = 503;
    const { id } = await created();
    expect(engine.count('/load')).toBe(1);
    expect((await app.delete(`${path}/${id}`, admin.token)).status).toBe(200);
  });

  it('unload their model again if they cannot be stored', async () => {
    engine.repository = 200;
    engine.ready.clear();
    jest.spyOn(app.store.deployments, 'add').mockRejectedValueOnce(new StorageUnavailable());
    expect((await create()).status).toBe(503);
    expect([...engine.ready]).toEqual([]);
  });

  it('keep a model loaded if its last deployment is deleted while a new one is created', async () => {
    engine.repository = 200;
    engine.ready.clear();
    const first = await created();
    const met = barrier(2);
    // The first deployment is deleted after the second one has found the model ready.
    const add = app.store.deployments.add.bind(app.store.deployments);
    jest.spyOn(app.store.deployments, 'add').mockImplementationOnce(async (deployment) => {
      await met();
      await met();
      return add(deployment);
    });
    const second = create({ name: 'second' });
    await met();
    expect((await app.delete(`${path}/${first.id}`, admin.token)).status).toBe(200);
    await met();
    expect((await second).body).toMatchObject({ status: 'running' });
    expect([...engine.ready]).toEqual(['double']);
  });

  it('load a model again that another instance unloaded before it saw the new deployment', async () => {
    engine.repository = 200;
    const add = app.store.deployments.add.bind(app.store.deployments);
    jest.spyOn(app.store.deployments, 'add').mockImplementationOnce(async (deployment) => {
      engine.ready.clear();
      return add(deployment);
    });
    expect(await created()).toMatchObject({ status: 'running' });
  });

  it('are deleted while the engine cannot be reached', async () => {
    const elsewhere = await InferenceEngine.start();
    const { id } = await created({ endpoint: elsewhere.url });
    await elsewhere.close();
    expect((await app.get(`${path}/${id}`, admin.token)).body.status).toBe('unhealthy');
    expect(await predict(id)).toMatchObject(refusal(503, 'runtime_unavailable'));
    expect((await app.delete(`${path}/${id}`, admin.token)).status).toBe(200);
  });

  it('are restarted even while the engine is not ready, and answer as soon as it is', async () => {
    const { id } = await created();
    const servers = app.container.get(ModelServer);
    const reconciler = app.container.get(DeploymentReconciler);
    await servers.stop(id);
    expect((await app.get(`${path}/${id}`, admin.token)).body).toMatchObject({ status: 'starting', url: engine.url });
    expect(await predict(id)).toMatchObject(refusal(503, 'runtime_loading'));
    engine.ready.clear();
    await reconciler.applyAll();
    expect(await reconciler.isLoading()).toBe(false);
    expect((await app.get(`${path}/${id}`, admin.token)).body.status).toBe('unhealthy');
    engine.ready.add('double');
    expect((await predict(id)).status).toBe(200);
  });

  describe('asked to predict', () => {
    const broken: Answering = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 1000 });
      response.write('{"outputs":');
      setImmediate(() => response.destroy());
    };
    const large: Answering = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 64 * 1024 ** 2 + 1 });
      response.write(' ');
    };
    const json =
      (status: number, body: unknown): Answering =>
      (_, response) =>
        sendJson(response, status, body);
    const invalidAnswers: Record<string, Answering> = {
      'no JSON': json(200, '{"outputs":'),
      'no outputs': answeringWith([]),
      'no field for outputs': answeringWith(undefined),
      'another model': answeringWith([y], { model_name: 'x' }),
      'another version': answeringWith([y], { model_version: '2' }),
      'another output': answeringWith([{ ...y, name: 'z' }]),
      'an output twice': answeringWith([y, y]),
      'too few data': answeringWith([{ ...y, data: [2] }]),
      'too many data': answeringWith([{ ...y, data: [2, 4, 6] }]),
      'uneven data': answeringWith([{ ...y, data: [[2, 4], [6]] }]),
      'no data': answeringWith([{ ...y, data: undefined }]),
      'a number beyond its type': json(
        200,
        '{"outputs":[{"name":"y","datatype":"FP32","shape":[1,2],"data":[1e400,1]}]}',
      ),
      'a text among numbers': answeringWith([{ ...y, data: [2, 'x'] }]),
      'a whole number beyond its type': answeringWith([{ name: 'm', datatype: 'INT64', shape: [1], data: [1e19] }]),
      'a fraction among whole numbers': answeringWith([{ name: 'm', datatype: 'INT64', shape: [1], data: [0.5] }]),
      'no shape': answeringWith([{ ...y, shape: null }]),
      'binary data that nobody wants': (_, response) =>
        sendBinary(response, { model_name: 'double', outputs: [] }, Buffer.alloc(8)),
      'too much': large,
      'a redirect': (_, response) => response.writeHead(302, { Location: '/v2' }).end(),
      'a 404': json(404, {}),
      'a 500': json(500, {}),
      'a 503': json(503, {}),
    };
    const failed = ['failed', 'failed'];
    it.each<[string, Answering, number, string, string[]]>([
      ...Object.entries(invalidAnswers).map(
        ([name, answering]) => [name, answering, 502, 'runtime_invalid_response', failed] as never,
      ),
      ['half an answer', broken, 503, 'runtime_unavailable', failed],
      ['a closed connection', (_, response) => response.destroy(), 503, 'runtime_unavailable', failed],
      ['no answer', () => undefined, 504, 'inference_timeout', failed],
      ['a busy status', json(429, {}), 429, 'model_busy', []],
      ['a refusal', json(400, { error: 'not so' }), 422, 'invalid_request', []],
    ])('answer with the code for the failure if the engine gives %s', async (_, answering, status, code, added) => {
      const { id } = await created({ model_version: '1' });
      engine.answering = answering;
      const before = await jobs();
      for (const body of [own, protocol]) expect(await predict(id, body)).toMatchObject(refusal(status, code));
      expect(await jobs()).toEqual([...added, ...before]);
    });

    it('name the output and the element of a wrong type', async () => {
      const { id } = await created();
      engine.answering = answeringWith([{ ...y, data: [2, 'x'] }]);
      for (const body of [own, protocol])
        expect((await predict(id, body)).body.error).toContain(
          'element 1 of its output "y" must be a number (FP32), not a string.',
        );
    });

    it('pass on the Retry-After of a busy engine, and its reason for a refusal', async () => {
      const { id } = await created();
      engine.answering = (_, response) => sendJson(response, 429, {}, { 'Retry-After': '7' });
      expect((await predict(id)).headers.get('retry-after')).toBe('7');
      engine.answering = (_, response) => sendJson(response, 400, { error: 'x is   wrong' });
      expect((await predict(id)).body.error).toContain('x is wrong');
    });

    it('check inputs against the metadata of the engine before they send it the inputs', async () => {
      const { id } = await created();
      const bad = [{ inputs: { z: [[1, 2]] } }, { inputs: { x: [[1, 'a']] } }, { inputs: { x: [[1, 2, 3]] } }, {}];
      for (const body of bad) expect(await predict(id, body)).toMatchObject(refusal(422, 'invalid_request'));
      const binary = { ...protocol, parameters: { binary_data_output: true } };
      expect(await predict(id, binary)).toMatchObject(refusal(422, 'invalid_request'));
      expect(await app.call('POST', `${path}/${id}/predict`, { token: admin.token, raw: '{' })).toMatchObject({
        status: 400,
      });
      expect(engine.asked).toEqual([]);
      const inputs = { x: { data: [1, 2, 3, 4], shape: [2, 2] } };
      const answer = { body: { outputs: { y: { shape: [2, 2], data: [2, 4, 6, 8] } } } };
      expect(await predict(id, { inputs, outputs: ['y'] })).toMatchObject(answer);
      expect(engine.asked[0]?.json.outputs).toEqual([{ name: 'y' }]);
      expect(await predict(id, { inputs, outputs: [] })).toMatchObject(answer);
    });

    it('keep all digits of numbers, and rename the model only at the top of the answer', async () => {
      const { id } = await created();
      const outputs =
        '[{"name":"m","datatype":"INT64","shape":[1],"data":[9223372036854775807],"x":{"model_name":"double"}}]';
      const text = (name: string) => `{ "a\\"b" : "}", "model_name" : "${name}", "outputs":${outputs}}`;
      engine.answering = (_, response) => sendJson(response, 200, text('double'));
      const textFor = async (body: object) => {
        const headers = { Authorization: `Bearer ${admin.token}`, 'Content-Type': 'application/json' };
        return (
          await fetch(`${app.url}${path}/${id}/predict`, { method: 'POST', headers, body: JSON.stringify(body) })
        ).text();
      };
      expect(await textFor(protocol)).toBe(text('iris'));
      expect(await textFor(own)).toBe(
        '{"outputs":{"m":{"datatype":"INT64","shape":[1],"data":[9223372036854775807]}}}',
      );
    });

    it('translate and check large bodies in a thread', async () => {
      const { id } = await created();
      const rows = Array.from({ length: 40_000 }, (_, n) => [n + 0.25, n]);
      const large = { name: 'x', datatype: 'FP32', shape: [40_000, 2], data: rows };
      const { body } = await predict(id, { inputs: { x: rows } });
      expect(body.outputs.y).toMatchObject({ shape: [40_000, 2], datatype: 'FP32' });
      expect(body.outputs.y.data.slice(-2)).toEqual([79_998.5, 79_998]);
      expect((await predict(id, { inputs: [large] })).body.model_name).toBe('iris');
      expect(await predict(id, { inputs: { x: [...rows, [1]] } })).toMatchObject(refusal(422, 'invalid_request'));
      engine.answering = answeringWith([{ ...large, name: 'y', shape: [40_000, 3] }]);
      expect(await predict(id)).toMatchObject(refusal(502, 'runtime_invalid_response'));
    });

    it('use the datatypes of the request if the engine does not describe its model', async () => {
      engine.metadata = {};
      const { id } = await created();
      expect(await predict(id)).toMatchObject({ body: { outputs: { y: { data: [2, 4] } } } });
      const call = { inputs: { x: { data: [1, 2], shape: [2], datatype: 'FP64' }, s: ['a'], b: [true] } };
      await predict(id, call);
      expect(engine.asked[1]?.json.inputs.map(({ datatype }: { datatype: string }) => datatype)).toEqual([
        'FP64',
        'BYTES',
        'BOOL',
      ]);
    });
  });
});
