import { Agent, request } from 'node:http';
import fc from 'fast-check';
import { fixture, ServingProcess } from '../../support/model-server/serving-process.js';
import { residentMemory } from '../../support/onnx/processes.js';

/** The number of requests to each model. For more, set `TENON_TEST_HOSTILE=10000`. */
const REQUESTS = Number(process.env.TENON_TEST_HOSTILE ?? 300);
const AT_ONCE = 8;
const MEGABYTE = 1_024 * 1_024;
const MODEL = 'a model';
const INFER = `/v2/models/${encodeURIComponent(MODEL)}/infer`;

interface HostileRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Input {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

/** Returns a valid tensor of one row. */
const good = ({ datatype, shape }: Input) => {
  const size = shape.map((one) => (one < 0 ? 1 : one));
  const element: unknown = datatype === 'BYTES' ? 'a' : datatype === 'BOOL' ? true : 1;
  return { shape: size, datatype, data: Array(size.reduce((a, b) => a * b, 1)).fill(element) };
};

/** Makes invalid tensors for an input. */
const spoiled = (input: Input): fc.Arbitrary<object> => {
  const tensor = good(input);
  const { shape, data, datatype } = tensor;
  const elements = ['x', null, {}, [], [[]], 'NaN ', '1', { data: 1 }, 'Infinity1', '-'];
  const dimensions = [-1, 0.5, 1e9, 2 ** 31, 2 ** 53, 1e300, '4', null, [], true];
  const fields = fc.oneof<fc.Arbitrary<object>[]>(
    fc.constantFrom(...elements).map((one) => ({ data: [one, ...data] })),
    fc.constantFrom(null, {}, [[data]], { data }, data.slice(1)).map((odd) => ({ data: odd })),
    fc.constantFrom(...dimensions).map((one) => ({ shape: [...shape.slice(1), one] })),
    fc.integer({ min: 8, max: 47 }).map((power) => ({ shape: shape.map(() => 2 ** power) })),
    fc.integer({ min: 22, max: 46 }).map((power) => ({ shape: [0, ...shape.map(() => 2 ** power)], data: [] })),
    fc.nat(2_000).map((rank) => ({ shape: [...Array(rank).fill(1), 3] })),
    fc.constantFrom(null, {}, 'x', 4).map((odd) => ({ shape: odd })),
    fc.constantFrom('FP32?', 'fp32', 'FLOAT', '', '__proto__', 7, [], {}).map((odd) => ({ datatype: odd })),
  );
  return fields.map((more) => ({ ...tensor, datatype, ...more }));
};

/** Makes bad requests to a model with these inputs. */
function hostileRequests(inputs: readonly Input[]): fc.Arbitrary<HostileRequest> {
  const json = (path: string, text: string | Buffer): HostileRequest => {
    return { path, headers: { 'Content-Type': 'application/json' }, body: Buffer.from(text) };
  };
  const predict = (content: unknown) => json('/predict', JSON.stringify({ inputs: content }));
  const infer = (content: unknown) => json(INFER, JSON.stringify({ inputs: content }));
  const names = fc.constantFrom('__proto__', 'constructor', '', 'x'.repeat(5_000), 'in\0put', 'ïnput', '../input');
  const all = Object.fromEntries(inputs.map((input) => [input.name, good(input)]));
  const listed = inputs.map((input) => ({ name: input.name, ...good(input) }));
  const chosen = fc.nat(inputs.length - 1).map((at) => ({ at, one: inputs[at] as Input }));
  const places = ['/', '/predict/', '/health', '/v2/models//infer', '/v2/models/%00/infer', '/v2/models/%/infer'];
  return fc.oneof(
    chosen.chain(({ one }) => spoiled(one).map((tensor) => predict({ ...all, [one.name]: tensor }))),
    chosen.chain(({ at, one }) =>
      spoiled(one).map((odd) => infer(listed.with(at, { ...odd, name: one.name } as never))),
    ),
    names.map((name) => json('/predict', `{"inputs":{${JSON.stringify(name)}:1,${JSON.stringify(all).slice(1)}}`)),
    chosen.chain(({ at, one }) => names.map((name) => infer(listed.with(at, { ...good(one), name })))),
    fc.constantFrom(null, [], 'x', 7, [all], {}).map(predict),
    fc.constantFrom(null, {}, 'x', 7, [...listed, ...listed], listed.slice(1), [null], [[]]).map(infer),
    binary(inputs),
    fc
      .tuple(fc.constantFrom('/predict', INFER), fc.integer({ min: 33, max: 20_000 }), fc.uint8Array(), fc.nat(7))
      .map(([path, depth, noise, which]) => {
        const deep = [`${'['.repeat(depth)}${']'.repeat(depth)}`, '{"a":'.repeat(depth)];
        const long = `{"inputs":{"input":${'9'.repeat(3_000)}}}`;
        return json(path, [...deep, long, '{"inputs":{"input":[[1,2', '\ufeff{', 'NaN', '', noise][which] as string);
      }),
    fc
      .constantFrom(...places, `${INFER.replace('/infer', '/versions/2/infer')}`, '/__proto__', '//')
      .map((path) => json(path, '{}')),
  );
}

/** Makes requests with wrong sizes of their binary data, or with a wrong length of their JSON. */
function binary(inputs: readonly Input[]): fc.Arbitrary<HostileRequest> {
  const about = fc.tuple(
    fc.constantFrom(-1, 1.5, 2 ** 40, '16', null, 3),
    fc.constantFrom(null, [2 ** 30, 2 ** 20], [1]),
    fc.constantFrom(0, -3, 9, '-1', '1000000000', 'x', '1.5', '', '0x10'),
    fc.uint8Array({ maxLength: 64 }),
  );
  return about.map(([size, shape, length, data]) => {
    const parameters = { binary_data_size: size };
    const tensors = inputs.map((input) => ({ ...input, shape: shape ?? good(input).shape, parameters }));
    const head = Buffer.from(JSON.stringify({ inputs: tensors }));
    const said = typeof length === 'number' ? head.length + length : length;
    const headers = { 'Content-Type': 'application/octet-stream', 'Inference-Header-Content-Length': String(said) };
    return { path: INFER, headers, body: Buffer.concat([head, data]) };
  });
}

describe('hundreds of bad requests', () => {
  const agent = new Agent({ keepAlive: true });
  let serving: ServingProcess;
  afterEach(() => serving.end());
  afterAll(() => agent.destroy());

  /** Uses `http.request`, because `fetch` corrects paths and headers. */
  const send = ({ path, headers, body }: HostileRequest) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(serving.url);
      const all = { ...headers, 'Content-Length': body.length };
      const sent = request({ agent, hostname, port, path, method: 'POST', headers: all }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.on('error', reject).end(body);
    });

  it.each([
    ['iris.onnx', null],
    ['multi.onnx', null],
    ['cnn.onnx', 8],
  ])('are all refused, and take little memory: %s', async (file, maxBatch) => {
    serving = await ServingProcess.start(fixture(file), { name: MODEL, maxBatch });
    const { inputs } = (await serving.get('/health')).body as { inputs: never[] };
    const hostile = fc.sample(hostileRequests(inputs), { numRuns: REQUESTS, seed: 11 });
    const odd: unknown[] = [];
    const attack = async (some: readonly HostileRequest[]) => {
      const left = [...some];
      const attacker = async () => {
        for (let one = left.pop(); one; one = left.pop()) {
          const { status, text } = await send(one);
          if (!isRefusal(status, text)) odd.push([status, text.slice(0, 300), `${one.body}`.slice(0, 300)]);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, attacker));
    };
    await attack(hostile);
    const warm = process.platform === 'linux' ? residentMemory(serving.pid) : 0;
    await attack(hostile);
    const grown = process.platform === 'linux' ? residentMemory(serving.pid) - warm : 0;
    expect(odd).toEqual([]);
    expect(serving.isAlive).toBe(true);
    expect(serving.output).toBe('');
    expect(grown).toBeLessThan(64 * MEGABYTE);
    expect((await serving.get('/health')).status).toBe(200);
  });
});

function isRefusal(status: number, text: string): boolean {
  if (status < 400 || status > 499) return false;
  const { status: said, code, error, request_id: id } = JSON.parse(text);
  return said === 'error' && [code, error, id].every((one) => typeof one === 'string' && one !== '');
}
