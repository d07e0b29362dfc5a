import { ModelServer } from '../../src/application/deployments/ports.js';
import { InferenceEngine, sendBinary } from '../support/inference-engine.js';
import { type Member, register } from '../support/workspace.js';
import { refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const path = '/v1/deployments';

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
    return (await app.post(path, admin.token, about)).body;
  };
  const jobs = async () =>
    (await app.get('/v1/jobs', admin.token)).body.jobs.map((job: { status: string }) => job.status);
  const infer = (id: string, bytes: Uint8Array, length: number | null, model = 'iris') =>
    fetch(`${app.url}${path}/${id}/v2/models/${model}/infer`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${admin.apiKey}`,
        ...(length !== null && { 'Inference-Header-Content-Length': String(length) }),
      },
      body: bytes,
    });
  const get = (id: string, below: string) => app.get(`${path}/${id}/v2${below}`, admin.apiKey);
  const input = { name: 'x', datatype: 'FP32', shape: [1, 2], parameters: { binary_data_size: 8 } };
  const tensors = (numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer);
  const head = Buffer.from(JSON.stringify({ inputs: [input], parameters: { binary_data_output: true } }));
  const binary = Buffer.concat([head, tensors([1.5, -0])]);

  it('answer only for their own model, under the name of the deployment', async () => {
    const before = await jobs();
    const { id } = await created();
    expect((await get(id, '')).body).toEqual({
      name: 'scripted',
      version: '3.1',
      extensions: ['binary_tensor_data'],
    });
    expect((await get(id, '/models/iris')).body).toEqual({ name: 'iris', ...engine.metadata });
    expect((await get(id, '/models/iris/versions/2')).status).toBe(200);
    expect((await get(id, '/models/iris/versions/9')).status).toBe(404);
    expect((await get(id, '/models/iris/ready')).body).toEqual({ name: 'iris', ready: true });
    expect((await get(id, '/health/live')).body).toEqual({ live: true });
    expect((await get(id, '/health/ready')).body).toEqual({ ready: true });
    for (const below of ['/models/double', '/models/double/ready']) expect((await get(id, below)).status).toBe(404);
    for (const below of ['index', 'models/double/unload'])
      expect((await app.post(`${path}/${id}/v2/repository/${below}`, admin.apiKey, {})).status).toBe(404);
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
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      502,
      'runtime_invalid_response',
    ]);
  });
});
