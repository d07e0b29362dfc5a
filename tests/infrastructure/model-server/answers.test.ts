import { deflateSync, gzipSync } from 'node:zlib';
import { Tensor } from 'onnxruntime-node';
import {
  crossRows,
  crossRowsMost,
  echo,
  lookUp,
  MadeModels,
  onnxTypes,
} from '../../support/model-server/serving-models.js';
import { fixture, ServingProcess } from '../../support/model-server/serving-process.js';
import { directRun } from '../../support/onnx/direct-run.js';

const models = new MadeModels();
afterAll(() => models.remove());

const processes: ServingProcess[] = [];
const serve = async (...args: Parameters<typeof ServingProcess.start>) => {
  const serving = await ServingProcess.start(...args);
  processes.push(serving);
  return serving;
};
afterAll(() => Promise.all(processes.map((one) => one.end())));

const bytesOf = (data: ArrayBufferView) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
const floats = (bytes: Uint8Array) => [...new Float32Array(Uint8Array.from(bytes).buffer)];
const named = (body: { outputs: { name: string }[] }, name: string) =>
  body.outputs.find((output) => output.name === name) as unknown as {
    data: unknown;
    shape: number[];
    datatype: string;
  };

describe('iris', () => {
  const flowers = Float32Array.from([5, 3.4, 1.5, 0.25, 5.9, 2.8, 4.3, 1.3, 6.6, 3, 5.6, 2]);
  const rows = [0, 4, 8].map((at) => [...flowers.subarray(at, at + 4)]);
  const asked = { name: 'input', shape: [3, 4], datatype: 'FP32' };
  let iris: ServingProcess;
  let label: number[];
  let probabilities: number[];
  beforeAll(async () => {
    iris = await serve(fixture('iris.onnx'), { id: 'dep_7', name: 'iris flowers' });
    const found = await directRun(fixture('iris.onnx'), { input: new Tensor(flowers, [3, 4]) });
    label = Array.from(found.label?.data as BigInt64Array, Number);
    probabilities = Array.from(found.probabilities?.data as Float32Array);
    expect(label).toEqual([0, 1, 2]);
  });

  it.each<[string, (rows: number[][]) => unknown]>([
    ['nested arrays', (nested) => nested],
    ['data with a shape', (nested) => ({ data: nested.flat(), shape: [3, 4] })],
    ['base64', () => ({ data: bytesOf(flowers).toString('base64'), shape: [3, 4] })],
  ])('answers /predict with the results of ONNX Runtime: %s', async (_, input) => {
    const { status, body } = await iris.predict({ input: input(rows) });
    expect(status).toBe(200);
    expect(body.outputs.label).toEqual({ data: label, shape: [3], datatype: 'INT64' });
    expect(body.outputs.probabilities).toEqual({ data: probabilities, shape: [3, 3], datatype: 'FP32' });
  });

  it('answers only the outputs that are named, and all if none are named', async () => {
    const { body } = await iris.predict({ input: rows }, { outputs: ['label'] });
    expect(body).toEqual({ outputs: { label: { data: label, shape: [3], datatype: 'INT64' } } });
    for (const outputs of [[], null]) {
      const { body } = await iris.predict({ input: rows }, { outputs });
      expect(Object.keys(body.outputs)).toEqual(['label', 'probabilities']);
    }
  });

  it.each([
    ['flat', [...flowers]],
    ['nested', rows],
  ])('answers the inference protocol in JSON: %s', async (_, data) => {
    const { status, body } = await iris.infer([{ ...asked, data } as never], { id: 'mine' });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'mine',
      model_name: 'iris flowers',
      model_version: '1',
      outputs: [
        { name: 'label', datatype: 'INT64', shape: [3], data: label },
        { name: 'probabilities', datatype: 'FP32', shape: [3, 3], data: probabilities },
      ],
    });
  });

  it('answers binary tensors with binary tensors', async () => {
    const more = { parameters: { binary_data_output: true } };
    const { body, binary, headers } = await iris.infer([{ ...asked, data: bytesOf(flowers) } as never], more);
    expect(headers.get('Content-Type')).toBe('application/octet-stream');
    expect(body.outputs.map((output: { parameters: object }) => output.parameters)).toEqual([
      { binary_data_size: 24 },
      { binary_data_size: 36 },
    ]);
    expect([...new BigInt64Array(Uint8Array.from(binary.subarray(0, 24)).buffer)].map(Number)).toEqual(label);
    expect(floats(binary.subarray(24))).toEqual(probabilities);
  });

  it('answers each output in binary or in JSON, as requested', async () => {
    const outputs = [{ name: 'probabilities', parameters: { binary_data: true } }, { name: 'label' }];
    const { body, binary } = await iris.infer([{ ...asked, data: bytesOf(flowers) } as never], { outputs });
    expect(body.outputs.map((output: { name: string }) => output.name)).toEqual(['probabilities', 'label']);
    expect(named(body, 'label').data).toEqual(label);
    expect(floats(binary)).toEqual(probabilities);
  });

  const as = (name: string, value: string) => ({ [name]: value });
  it.each<[string, Record<string, string>, boolean, ((body: Buffer) => Buffer)?]>([
    ['JSON without a type', {}, false],
    ['binary tensors without a type', {}, true],
    ['JSON as bytes', as('Content-Type', 'application/octet-stream'), false],
    ['gzip', as('Content-Encoding', 'gzip'), true, gzipSync],
    ['deflate', as('Content-Encoding', 'deflate'), false, deflateSync],
  ])('answers what tritonclient.http sends: %s', async (_, headers, isBinary, compress = (body) => body) => {
    const data = isBinary ? { parameters: { binary_data_size: flowers.byteLength } } : { data: rows };
    const json = Buffer.from(JSON.stringify({ inputs: [{ ...asked, ...data }] }));
    const length = isBinary ? as('Inference-Header-Content-Length', String(json.length)) : {};
    const body = compress(isBinary ? Buffer.concat([json, bytesOf(flowers)]) : json);
    const sent = { method: 'POST', headers: { ...headers, ...length }, body: new Uint8Array(body) };
    const response = await fetch(`${iris.url}/v2/models/dep_7/infer`, sent);
    expect(response.status).toBe(200);
    expect(named((await response.json()) as never, 'label').data).toEqual(label);
  });

  it('accepts the inference protocol on /predict, too, and answers in its form, but only in JSON', async () => {
    const content = { id: 'mine', inputs: [{ ...asked, data: rows }], outputs: [{ name: 'label' }] };
    const { status, body } = await iris.post('/predict', content);
    expect([status, body]).toEqual([
      200,
      {
        id: 'mine',
        model_name: 'iris flowers',
        model_version: '1',
        outputs: [{ name: 'label', datatype: 'INT64', shape: [3], data: label }],
      },
    ]);
    const refused = await iris.post('/predict', { ...content, parameters: { binary_data_output: true } });
    expect([refused.status, refused.body.details]).toEqual([
      422,
      [{ path: 'outputs', message: expect.stringContaining('/v2') }],
    ]);
  });

  it('is known by its name and by its id, with a version or without', async () => {
    const content = { inputs: [{ ...asked, data: [...flowers] }] };
    for (const model of ['iris%20flowers', 'dep_7', 'dep_7/versions/1'])
      expect((await iris.post(`/v2/models/${model}/infer`, content)).status).toBe(200);
    expect((await iris.get('/v2/models/dep_7/versions/1')).body).toEqual({
      name: 'iris flowers',
      versions: ['1'],
      platform: 'onnxruntime_onnx',
      inputs: [{ name: 'input', datatype: 'FP32', shape: [-1, 4] }],
      outputs: [
        { name: 'label', datatype: 'INT64', shape: [-1] },
        { name: 'probabilities', datatype: 'FP32', shape: [-1, 3] },
      ],
    });
    for (const path of ['/v2', '/v2/health/live', '/v2/health/ready', '/v2/models/dep_7/ready'])
      expect((await iris.get(path)).status).toBe(200);
  });

  it('accepts a tensor without rows', async () => {
    const { body } = await iris.predict({ input: { data: [], shape: [0, 4] } });
    expect(body.outputs.probabilities).toEqual({ data: [], shape: [0, 3], datatype: 'FP32' });
  });
});

describe('cnn', () => {
  it('answers with the results of ONNX Runtime, in JSON large enough for another thread and in binary', async () => {
    const cnn = await serve(fixture('cnn.onnx'));
    const images = Float32Array.from({ length: 40 * 784 }, (_, at) => Math.sin(at * at));
    const shape = [40, 1, 28, 28];
    const found = await directRun(fixture('cnn.onnx'), { image: new Tensor(images, shape) });
    const expected = Array.from(found.probabilities?.data as Float32Array);
    const json = await cnn.predict({ image: { data: [...images], shape } });
    expect(json.body.outputs.probabilities).toEqual({ data: expected, shape: [40, 4], datatype: 'FP32' });
    const input = { name: 'image', shape, datatype: 'FP32', data: bytesOf(images) };
    expect((await cnn.infer([input])).body.outputs[0].data).toEqual(expected);
  });
});

it('answers strings, integers, floats and booleans', async () => {
  const multi = await serve(fixture('multi.onnx'));
  const name = ['Käse', '', '🧀'];
  const { body } = await multi.predict({
    name,
    quantity: ['-1', 2, 100],
    unit_price: [1.5, 'Infinity', 2.25],
    member: [true, false, true],
  });
  expect(body.outputs).toEqual({
    name_out: { data: name, shape: [3], datatype: 'BYTES' },
    total: { data: [-1.35, 'Infinity', 202.5], shape: [3], datatype: 'FP64' },
    items: { data: [101], shape: [], datatype: 'INT64' },
    large: { data: [false, true, true], shape: [3], datatype: 'BOOL' },
  });
});

describe('every element type', () => {
  const values: Record<keyof typeof onnxTypes, unknown[]> = {
    FP32: [0.5, -3.4028234663852886e38, 'NaN'],
    FP64: [0.1, -1.7976931348623157e308, '-Infinity'],
    FP16: [0.5, -65504, 'Infinity'],
    UINT8: [0, 255, 1],
    INT8: [-128, 127, 0],
    UINT16: [0, 65535, 1],
    INT16: [-32768, 32767, 0],
    UINT32: [0, 4294967295, 1],
    INT32: [-2147483648, 2147483647, 0],
    UINT64: [0, 9007199254740991, 1],
    INT64: [-9007199254740991, 9007199254740991, 0],
    BOOL: [true, false, true],
    BYTES: ['a', '', 'ß\u2028"\\'],
  };
  let model: ServingProcess;
  beforeAll(async () => {
    model = await serve(models.file('echo', echo(onnxTypes)));
  });

  it('comes back as it was sent', async () => {
    const { status, body } = await model.predict(values);
    expect(status).toBe(200);
    for (const [type, data] of Object.entries(values))
      expect(body.outputs[`${type}_out`]).toEqual({ data, shape: [3], datatype: type });
  });

  it('comes back byte for byte', async () => {
    const plain = Object.entries(values).map(([name, data]) => ({ name, datatype: name, shape: [3], data }));
    const all = { parameters: { binary_data_output: true } };
    const first = await model.infer(plain, all);
    let at = 0;
    const inputs = first.body.outputs.map((output: { datatype: string; parameters: { binary_data_size: number } }) => {
      const data = first.binary.subarray(at, at + output.parameters.binary_data_size);
      at += data.length;
      return { name: output.datatype, datatype: output.datatype, shape: [3], data };
    });
    const second = await model.infer(inputs.reverse(), all);
    expect(second.status).toBe(200);
    expect(second.binary).toEqual(first.binary);
  });

  it('keeps integers that do not fit a double, as numbers or as strings of digits', async () => {
    const one = await serve(models.file('long', echo({ i: onnxTypes.INT64, u: onnxTypes.UINT64, f: onnxTypes.FP64 })));
    const body = `{"inputs": {"i": [-9223372036854775808, "9223372036854775807"],
      "u": {"data": [18446744073709551615, "9007199254740993"]}, "f": [12345678901234567890, 0.1234567890123456789]}}`;
    const response = await fetch(`${one.url}/predict`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    const text = await response.text();
    expect(text).toContain('"data":[-9223372036854775808,9223372036854775807]');
    expect(text).toContain('"data":[18446744073709551615,9007199254740993]');
    expect(JSON.parse(text).outputs.f_out.data).toEqual([12345678901234567890n, 0.12345678901234568].map(Number));
  });

  it('may be a scalar, or of any shape if the model names none', async () => {
    const scalar = await serve(models.file('scalar', echo({ x: onnxTypes.FP32 }, [])));
    const { body } = await scalar.predict({ x: 2.5 });
    expect(body.outputs.x_out).toEqual({ data: [2.5], shape: [], datatype: 'FP32' });
    const text = await serve(models.file('text', echo({ x: onnxTypes.BYTES }, [])));
    expect((await text.predict({ x: { data: 'words' } })).body.outputs.x_out.data).toEqual(['words']);
  });
});

describe('requests that run together', () => {
  const joining = (file: string, maxBatch: number | null = 8) => serve(file, { maxBatch, maxDelayMs: 20 });

  type Inputs = Readonly<Record<string, unknown>>;
  const answers = async (serving: ServingProcess, asked: readonly Inputs[]) => {
    const found = await Promise.all(asked.map((inputs) => serving.predict(inputs)));
    return found.map(({ status, body }) => ({ status, body }));
  };
  /** Repeats the requests until some of them have run together. */
  const untilTogether = async (serving: ServingProcess, ask: () => Promise<unknown>) => {
    for (let round = 0; round < 50; round++) {
      await ask();
      const { runs, requests } = await counted(serving);
      if (runs < requests) return;
    }
    throw new Error('no requests ran together');
  };
  const counted = async ({ url }: ServingProcess) => {
    const text = await fetch(`${url}/metrics`).then((response) => response.text());
    const value = (name: string) =>
      Number(new RegExp(`^tenon_serving_batch_requests_${name} (\\d+)`, 'm').exec(text)?.[1]);
    return { runs: value('count'), requests: value('sum') };
  };

  const close = (numbers: readonly number[]) => numbers.map((one) => expect.closeTo(one, 5));

  it('get the same answers as alone, with one row or with several', async () => {
    const alone = await joining(fixture('cnn.onnx'), null);
    const together = await joining(fixture('cnn.onnx'));
    const asked = Array.from({ length: 24 }, (_, one) => {
      const shape = [1 + (one % 3), 1, 28, 28];
      const data = Array.from({ length: (1 + (one % 3)) * 784 }, (_, at) => Math.sin(at * (one + 1)));
      return { image: { data, shape } };
    });
    const expected = await answers(alone, asked);
    await untilTogether(together, async () => {
      const found = await answers(together, asked);
      expect(found.map(({ status }) => status)).toEqual(expected.map(() => 200));
      for (const [at, { body }] of found.entries()) {
        const { data, ...rest } = (expected[at] as (typeof expected)[number]).body.outputs.probabilities;
        expect(body.outputs.probabilities).toEqual({ ...rest, data: close(data) });
      }
    });
    expect(together.output).toBe('');
    const { runs, requests } = await counted(alone);
    expect(runs).toBe(requests);
  });

  it('do not fail together: only the faulty request fails', async () => {
    const serving = await joining(models.file('look-up', lookUp()));
    const asked = Array.from({ length: 16 }, (_, at) => ({ token: [at % 4] }));
    await untilTogether(serving, () => answers(serving, asked));
    const found = await answers(
      serving,
      asked.map((inputs, at) => (at === 7 ? { token: [9] } : inputs)),
    );
    for (const [at, { status, body }] of found.entries()) {
      if (at === 7) expect([status, body.code]).toEqual([422, 'invalid_request']);
      else expect(body.outputs.vector.data).toEqual([(at % 4) * 2, (at % 4) * 2 + 1]);
    }
  });

  it('are not joined if the rows of a model depend on each other', async () => {
    const serving = await joining(models.file('cross-rows', crossRows()));
    const asked = Array.from({ length: 16 }, (_, at) => ({ x: [[at, 2 * at, -at]] }));
    for (let round = 0; round < 5; round++)
      for (const { body } of await answers(serving, asked)) expect(body.outputs.y.data).toEqual([0, 0, 0]);
    expect(serving.output).toMatch(/^batching is off: .*together\n$/);
    const { runs, requests } = await counted(serving);
    expect(runs).toBe(requests);
  });

  it('are not joined if an answer depends on the largest number of all rows', async () => {
    const serving = await joining(models.file('cross-most', crossRowsMost()), 32);
    const asked = Array.from({ length: 16 }, (_, at) => ({ x: [[at, at + 1, at + 2, at + 3]] }));
    await serving.predict(asked[0]);
    for (let round = 0; round < 5; round++)
      for (const { body } of await answers(serving, asked)) expect(body.outputs.y.data).toEqual([-3, -2, -1, 0]);
    expect(serving.output).toMatch(/^batching is off: /);
  });
});
