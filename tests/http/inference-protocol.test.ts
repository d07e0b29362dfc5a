import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { InferenceTimeout, RuntimeInvalidResponse } from '../../src/domain/chat/errors.js';
import { DeploymentStarting, DeploymentStopped, DeploymentUnavailable } from '../../src/domain/deployments/errors.js';
import type { DomainError } from '../../src/domain/shared/errors.js';
import { bodyLimits } from '../../src/interfaces/http/body.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { note } from '../support/http-caller.js';
import { InferenceEngine, sendBinary } from '../support/inference-engine.js';
import { LocalModelServerRig } from '../support/model-server/local-model-server-rig.js';
import { echo, onnxTypes } from '../support/model-server/serving-models.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { type Member, register } from '../support/workspace.js';
import { invalid, refusal, statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const temporary = new TemporaryFolder();
afterAll(() => temporary.remove());

const LENGTH = 'inference-header-content-length';

interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: Uint8Array;
}

/** Sends exactly these headers and bytes. */
async function exchange(url: string, { method = 'GET', headers = {}, body }: Request) {
  const sent = request(url, { method, headers: { ...headers, ...(body && { 'Content-Length': body.length }) } });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  const { 'content-type': type, 'content-length': length, [LENGTH]: jsonLength } = response.headers;
  return { status: response.statusCode as number, headers: { type, length, jsonLength }, bytes };
}

/** Writes a body as clients do: first the JSON, then the data of the binary tensors. */
function bodyOf(json: { inputs: readonly { data: unknown }[] }): { body: Buffer; jsonLength: number | null } {
  const binary: Uint8Array[] = [];
  const inputs = json.inputs.map(({ data, ...tensor }) => {
    if (!(data instanceof Uint8Array)) return { ...tensor, data };
    binary.push(data);
    return { ...tensor, parameters: { binary_data_size: data.length } };
  });
  const head = Buffer.from(JSON.stringify({ ...json, inputs }));
  return { body: Buffer.concat([head, ...binary]), jsonLength: binary.length > 0 ? head.length : null };
}

const floats = Buffer.from(Float32Array.of(0.5, Number.NaN, -3.4e38).buffer);
const texts = Buffer.concat(
  ['a', '', 'ß'].flatMap((text) => [Buffer.of(Buffer.byteLength(text), 0, 0, 0), Buffer.from(text)]),
);
const tensor = (name: string, data: unknown) => ({ name, shape: [3], datatype: name, data });
const binary = [
  tensor('FP32', floats),
  tensor('INT64', Buffer.from(BigInt64Array.of(1n, -1n, 2n ** 62n).buffer)),
  tensor('BYTES', texts),
];
const plain = [tensor('FP32', [1, 2, 3]), tensor('INT64', [1, 2, 3]), tensor('BYTES', ['a', 'b', 'c'])];

describe('clients of the Open Inference Protocol', () => {
  const name = 'Echo/of all types: 100% ü';
  let rig: LocalModelServerRig;
  let app: TestApp;
  let admin: Member;
  let deployment: { id: string; url: string };

  beforeAll(async () => {
    const folder = join(temporary.path, 'models');
    const program = join(process.cwd(), 'dist/src/infrastructure/model-server/process/main.js');
    rig = new LocalModelServerRig(folder, { program, bodyLimit: bodyLimits.prediction });
    writeFileSync(
      join(folder, 'echo.onnx'),
      echo({ FP32: onnxTypes.FP32, INT64: onnxTypes.INT64, BYTES: onnxTypes.BYTES }),
    );
    app = await TestApp.start({ adapt: (container) => container.rebind(ModelServer).toConstantValue(rig.servers) });
    admin = await register(app, 'Ada');
    deployment = (await app.post('/v1/deployments', admin.token, { name, model_path: 'echo.onnx' })).body;
  });
  afterAll(async () => {
    await rig.servers.close();
    await app.stop();
  });

  const encoded = encodeURIComponent(name);
  const base = () => `/v1/deployments/${deployment.id}/`;
  const authorized = () => ({ Authorization: `Bearer ${admin.apiKey}` });
  const jobs = async () => (await app.get('/v1/jobs?kind=prediction&limit=1000', admin.token)).body.count;

  /** Sends a request through the service, and directly to the process. */
  async function both(path: string, { headers, ...asked }: Request) {
    const through = await exchange(app.url + base() + path, { ...asked, headers: { ...headers, ...authorized() } });
    return { through, direct: await exchange(`${deployment.url}/${path}`, { ...asked, headers: { ...headers } }) };
  }

  it.each([
    'v2',
    'v2/health/live',
    'v2/health/ready',
    ...['', '/ready'].flatMap((end) => [`v2/models/${encoded}${end}`, `v2/models/${encoded}/versions/1${end}`]),
  ])('get the answers of the process to GET and HEAD %s', async (path) => {
    const before = await jobs();
    const { through, direct } = await both(path, { headers: { Connection: 'keep-alive' } });
    expect(through).toEqual(direct);
    expect(through.status).toBe(200);
    const answer = { status: 200, body: JSON.parse(through.bytes.toString()) };
    note('GET', base() + path, answer);
    const head = await both(path, { method: 'HEAD' });
    expect(head.through).toMatchObject({ status: 200, headers: through.headers, bytes: Buffer.alloc(0) });
    expect(await jobs()).toBe(before);
  });

  // The requests of `tritonclient.http` have no Content-Type, and tell the JSON's length only with binary tensors.
  const all = { parameters: { binary_data_output: true } };
  const outputs = [
    { name: 'BYTES_out', parameters: { binary_data: false } },
    { name: 'FP32_out', parameters: { binary_data: true } },
  ];
  const gzip = { 'Content-Encoding': 'gzip', 'Accept-Encoding': 'gzip' };
  const deflate = { 'Content-Encoding': 'deflate', 'Accept-Encoding': 'deflate' };
  // KServe's client uses httpx.
  const httpx = {
    Accept: '*/*',
    'Accept-Encoding': 'gzip, deflate',
    Connection: 'keep-alive',
    'User-Agent': 'python-httpx',
    'content-type': 'application/octet-stream',
  };
  it.each<[string, object, object, ((body: Buffer) => Buffer)?]>([
    ['binary tensors and named outputs', { id: 'one', inputs: binary, outputs }, {}],
    ['JSON', { inputs: plain, ...all }, {}],
    ['gzip', { inputs: binary, ...all }, gzip, (body) => gzipSync(body)],
    ['deflate', { inputs: plain, ...all }, deflate, (body) => deflateSync(body)],
    ['options of Triton', { inputs: binary, parameters: { sequence_id: 7, priority: 1, timeout: 500 } }, {}],
    ['binary tensors of KServe', { id: 'u-1', model_name: name, inputs: binary, outputs }, httpx],
    ['inputs that the model refuses', { inputs: plain.slice(1), ...all }, { 'X-Request-Id': 'req-1' }],
  ])('get byte for byte the answer of the process: %s', async (_, json, headers, encode = (body) => body) => {
    const { body, jsonLength } = bodyOf(json as { inputs: [] });
    const length: Record<string, number> = jsonLength === null ? {} : { [LENGTH]: jsonLength };
    for (const path of [`v2/models/${encoded}/infer`, `v2/models/${encoded}/versions/1/infer`]) {
      const asked = { method: 'POST', body: encode(body), headers: { 'X-Request-Id': 'one', ...headers, ...length } };
      const { through, direct } = await both(path, asked);
      expect(through.bytes.equals(direct.bytes)).toBe(true);
      expect(through).toEqual(direct);
      const isBinary = through.headers.type === 'application/octet-stream';
      note('POST', base() + path, {
        status: through.status,
        body: isBinary ? '' : JSON.parse(through.bytes.toString()),
      });
    }
  });

  it('create one job for each prediction, and none for a refused one', async () => {
    const before = await jobs();
    const { body } = bodyOf({ inputs: plain });
    const path = `${base()}v2/models/${encoded}/infer`;
    expect((await exchange(app.url + path, { method: 'POST', body, headers: authorized() })).status).toBe(200);
    expect(await jobs()).toBe(before + 1);
    const newest = (await app.get('/v1/jobs?limit=1', admin.token)).body.jobs[0];
    expect(newest).toMatchObject({ kind: 'prediction', mode: 'sync', status: 'succeeded', name });
    for (const at of [path.replace(encoded, 'other'), path.replace('/infer', '/versions/2/infer')])
      expect((await app.post(at, admin.token, {})).status).toBe(404);
    expect((await app.post(path, admin.token, { inputs: [] })).status).toBe(422);
    expect(await jobs()).toBe(before + 1);
  });

  it('get an answer in the form of the protocol on /predict, too', async () => {
    const { body } = await app.post(`${base()}predict`, admin.token, { id: 'mine', inputs: plain });
    expect(body).toMatchObject({
      id: 'mine',
      model_name: name,
      outputs: [{ name: 'FP32_out', data: [1, 2, 3] }, {}, {}],
    });
  });

  it('reach only the deployment’s model, and no other route of the protocol', async () => {
    const { id } = deployment;
    const model = (path: string) => `${base()}v2/models/${path}`;
    const unknown = [
      ...['other', id, 'echo', name.toLowerCase(), '%ff'].flatMap((other) => [
        model(encodeURIComponent(other)),
        model(`${other}/ready`),
      ]),
      ...'versions/2 versions/2/ready versions config stats trace/setting'
        .split(' ')
        .map((below) => model(`${encoded}/${below}`)),
      model('stats'),
      ...['v2/', 'v2/logging', 'v2/models', 'v2/repository/index', 'v1/models', 'health', 'metrics'].map(
        (path) => base() + path,
      ),
    ];
    for (const path of unknown)
      expect(`${path}: ${statusAndCode(await app.get(path, admin.token))}`).toBe(`${path}: 404 not_found`);
    for (const path of ['repository/index', `repository/models/${encoded}/load`, `repository/models/${encoded}/unload`])
      expect(statusAndCode(await app.post(`${base()}v2/${path}`, admin.token, {}))).toBe('404 not_found');
    const wrong = await app.get(`${base()}v2/models/${encoded}/infer`, admin.token);
    expect(wrong).toMatchObject(refusal(405, 'method_not_allowed'));
    expect(wrong.headers.get('allow')).toBe('POST');
  });

  it.each(['', '/versions/1'])('get the refusal of the first check that their body fails ("%s")', async (version) => {
    const path = (model: string, id = deployment.id) => `/v1/deployments/${id}/v2/models/${model}${version}/infer`;
    const refused = async (body: Uint8Array, headers: Record<string, string>, at = path(encoded)) => {
      const asked = { method: 'POST', body, headers: { ...authorized(), ...headers } };
      const { status, bytes } = await exchange(app.url + at, asked);
      const answer = { status, body: JSON.parse(bytes.toString()) };
      note('POST', at, answer);
      return answer;
    };
    const { body } = bodyOf({ inputs: plain });
    const gzip = { 'Content-Encoding': 'gzip' };
    const unsupported = refusal(415, 'unsupported_media_type');
    expect(await refused(body, { 'Content-Type': 'text/plain' }, path('other'))).toMatchObject(unsupported);
    const br = { 'Content-Encoding': 'br' };
    expect(await refused(brotliCompressSync(body), br, path('other'))).toMatchObject(unsupported);
    for (const broken of [body, gzipSync(body).subarray(0, -9), Buffer.alloc(0)])
      expect(await refused(broken, gzip)).toMatchObject(refusal(400, 'bad_request'));
    expect(await refused(gzipSync('{'), gzip)).toMatchObject(refusal(400, 'malformed_json'));
    const wrong = invalid('Inference-Header-Content-Length');
    for (const length of ['x', '-1', '1.5', String(body.length + 1)])
      expect(await refused(body, { [LENGTH]: length })).toMatchObject(wrong);
    const nowhere = path('x', 'dep_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11');
    expect(await refused(body, { [LENGTH]: 'x' }, nowhere)).toMatchObject(refusal(404, 'not_found'));
  });

  it('may not send a body that is over the limit after decoding', async () => {
    const part = 1024 ** 2;
    const parts = Math.ceil((bodyLimits.prediction + 1) / part);
    const body = Buffer.concat(Array(parts).fill(gzipSync(Buffer.alloc(part, ' ')))); // decodes to all parts
    const bomb = { body, method: 'POST' };
    const headers = { ...authorized(), 'Content-Encoding': 'gzip' };
    const { status } = await exchange(`${app.url}${base()}v2/models/${encoded}/infer`, { ...bomb, headers });
    expect(status).toBe(413);
  }, 20_000);

  it('may send a body of unknown length, compressed or not', async () => {
    const { body } = bodyOf({ inputs: plain });
    for (const coding of ['gzip', 'identity']) {
      const headers = { ...authorized(), 'Content-Encoding': coding, 'Transfer-Encoding': 'chunked' };
      const sent = request(`${app.url}${base()}v2/models/${encoded}/infer`, { method: 'POST', headers });
      const encoder = coding === 'gzip' ? createGzip() : null;
      encoder?.pipe(sent);
      const into = encoder ?? sent;
      into.write(body.subarray(0, 10));
      into.end(body.subarray(10));
      const [response] = await once(sent, 'response');
      expect(JSON.parse((await buffer(response)).toString())).toMatchObject({ outputs: [{ data: [1, 2, 3] }, {}, {}] });
    }
  });
});

describe('a model that cannot answer', () => {
  const servers = new MemoryModelServer(async () => ({ status: 200, text: '{}' }));
  let app: TestApp;
  let admin: Member;
  let id: string;
  beforeAll(async () => {
    app = await TestApp.start({ adapt: (container) => container.rebind(ModelServer).toConstantValue(servers) });
    admin = await register(app, 'Ada');
    id = (await app.post('/v1/deployments', admin.token, { name: 'iris', model_path: 'iris.onnx' })).body.id;
  });
  afterAll(() => app.stop());

  const failures: [number, DomainError, string | null, string | null][] = [
    [502, new RuntimeInvalidResponse('it is no answer.'), null, 'false'],
    [503, new DeploymentStopped(), null, 'false'],
    [503, new DeploymentStarting(), '1', null],
    [503, new DeploymentUnavailable('it died.'), null, null],
    [504, new InferenceTimeout(1), null, 'false'],
  ];
  const modelBusy = JSON.stringify({ status: 'error', code: 'model_busy', error: 'full', request_id: 'req_1' });
  const busy = async () => ({
    status: 429,
    headers: { 'content-type': 'application/json', 'retry-after': '1' },
    body: Buffer.from(modelBusy),
  });

  const below = contracts.filter(({ path }) => /^\/v1\/deployments\/\{deployment_id\}\/(v2|predict)/.test(path));
  it.each(below.map(({ method, path }) => [method.toUpperCase(), path] as const))(
    'is reported on %s %s',
    async (method, path) => {
      const at = path.replace('{deployment_id}', id).replace('{model_name}', 'iris').replace('{model_version}', '1');
      const ask = () =>
        app.call(method, at, { token: admin.apiKey, ...(method === 'POST' && { json: { inputs: [] } }) });
      for (const [status, error, wait, retry] of failures) {
        jest.spyOn(servers, 'request').mockRejectedValueOnce(error);
        const answer = await ask();
        expect(answer).toMatchObject(refusal(status, error.code));
        expect(['retry-after', 'x-should-retry'].map((name) => answer.headers.get(name))).toEqual([wait, retry]);
      }
      if (method === 'GET') return;
      jest.spyOn(servers, 'request').mockImplementationOnce(busy);
      const answer = await ask();
      expect(answer).toMatchObject(refusal(429, 'model_busy'));
      expect(answer.headers.get('retry-after')).toBe('1');
    },
  );
});

describe('deployments of engines elsewhere, in the Open Inference Protocol', () => {
  let engine: InferenceEngine;
  let app: TestApp;
  let admin: Member;

  beforeAll(async () => {
    engine = await InferenceEngine.start();
    app = await TestApp.start({ env: { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host } });
    admin = await register(app, 'Ada');
  });
  afterAll(async () => {
    await app.container.get(ModelServer).close();
    await app.stop();
    await engine.close();
  });
  afterEach(() => engine.reset());

  const created = async () => {
    const about = { name: 'iris', endpoint: engine.url, model_name: 'double' };
    return (await app.post('/v1/deployments', admin.token, about)).body;
  };
  const jobs = async () =>
    (await app.get('/v1/jobs', admin.token)).body.jobs.map((job: { status: string }) => job.status);
  const infer = (id: string, bytes: Uint8Array, length: number | null, model = 'iris') =>
    fetch(`${app.url}/v1/deployments/${id}/v2/models/${model}/infer`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${admin.apiKey}`,
        ...(length !== null && { 'Inference-Header-Content-Length': String(length) }),
      },
      body: bytes,
    });
  const get = (id: string, below: string) => app.get(`/v1/deployments/${id}/v2${below}`, admin.apiKey);
  const input = { name: 'x', datatype: 'FP32', shape: [1, 2], parameters: { binary_data_size: 8 } };
  const tensors = (numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer);
  const head = Buffer.from(JSON.stringify({ inputs: [input], parameters: { binary_data_output: true } }));
  const binary = Buffer.concat([head, tensors([1.5, -0])]);

  it('answer only for their own model, under the name of the deployment', async () => {
    const before = await jobs();
    const { id } = await created();
    const about = { name: 'scripted', version: '3.1', extensions: ['binary_tensor_data'] };
    expect((await get(id, '')).body).toEqual(about);
    expect((await get(id, '/models/iris')).body).toEqual({ name: 'iris', ...engine.metadata });
    expect((await get(id, '/models/iris/versions/2')).status).toBe(200);
    expect((await get(id, '/models/iris/versions/9')).status).toBe(404);
    expect((await get(id, '/models/iris/ready')).body).toEqual({ name: 'iris', ready: true });
    expect((await get(id, '/health/live')).body).toEqual({ live: true });
    expect((await get(id, '/health/ready')).body).toEqual({ ready: true });
    for (const below of ['/models/double', '/models/double/ready']) expect((await get(id, below)).status).toBe(404);
    engine.ready.clear();
    expect(await get(id, '/models/iris/ready')).toMatchObject(refusal(503, 'runtime_unavailable'));
    expect(await get(id, '/health/ready')).toMatchObject(refusal(503, 'runtime_unavailable'));
    expect(await jobs()).toEqual(before);
  });

  it('pass binary tensors through byte for byte', async () => {
    const before = await jobs();
    const { id } = await created();
    const answer = await infer(id, binary, head.length);
    const length = Number(answer.headers.get('inference-header-content-length'));
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(JSON.parse(bytes.subarray(0, length).toString())).toEqual({
      model_name: 'iris',
      model_version: '1',
      outputs: [{ name: 'y', datatype: 'FP32', shape: [1, 2], parameters: { binary_data_size: 8 } }],
    });
    expect(bytes.subarray(length)).toEqual(tensors([3, -0]));
    expect(engine.asked[0]?.binary).toEqual(binary.subarray(head.length));
    expect((await infer(id, binary, head.length, 'double')).status).toBe(404);
    expect((await infer(id, binary, 10_000)).status).toBe(422);
    expect(await jobs()).toEqual(['succeeded', ...before]);
  });

  it.each<[string, (json: object, bytes: Buffer) => [object, Buffer, number?]]>([
    ['fewer bytes than it says', (json, bytes) => [json, bytes.subarray(4)]],
    ['more bytes than it says', (json, bytes) => [json, Buffer.concat([bytes, bytes])]],
    ['a length beyond its end', (json, bytes) => [json, bytes, 10_000]],
    ['a wrong length of its JSON', (json, bytes) => [json, bytes, 5]],
    [
      'a wrong number of bytes for BF16',
      (json, bytes) => [JSON.parse(JSON.stringify(json).replace('FP32', 'BF16')), bytes],
    ],
  ])('refuse an answer with %s', async (_, change) => {
    const { id } = await created();
    const y = { name: 'y', datatype: 'FP32', shape: [1, 2], parameters: { binary_data_size: 8 } };
    engine.answering = (_, response) =>
      sendBinary(response, ...change({ model_name: 'double', outputs: [y] }, tensors([1, 2])));
    const answer = await infer(id, binary, head.length);
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: 'runtime_invalid_response' });
  });
});
