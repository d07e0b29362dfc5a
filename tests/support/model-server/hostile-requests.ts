import type { SeededChance } from '../onnx/seeded-chance.js';

export interface HostileRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Input {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const NAMES = ['__proto__', 'constructor', 'toString', '', 'x'.repeat(5_000), 'in\0put', 'ïnput', '../input', 'inputs'];
const TYPES = ['FP32', 'fp32', 'FLOAT', 'INT64', 'BYTES', 'BOOL', 'FP16', '', '__proto__', 7, null, [], {}];
const DIMENSIONS = [-1, 0.5, 1e9, 2 ** 31, 2 ** 53, 1e300, '4', null, [], true];
const ELEMENTS = ['x', null, {}, [], [[]], 'NaN ', '1', undefined, { data: 1 }, 'Infinity1', '-'];

/** Returns a bad request to a model with these inputs. */
export function hostileRequest(chance: SeededChance, model: string, inputs: readonly Input[]): HostileRequest {
  const ways = [badPredict, badPredict, badInfer, badInfer, badBinary, badBinary, badText, badPlace];
  return chance.pick(ways)(chance, model, inputs);
}

const infer = (model: string): string => `/v2/models/${encodeURIComponent(model)}/infer`;

const predict = (inputs: unknown): HostileRequest => ({
  path: '/predict',
  headers: JSON_TYPE,
  body: Buffer.from(JSON.stringify({ inputs })),
});

/** Returns a valid tensor of one row. */
const good = ({ datatype, shape }: Input) => {
  const size = shape.map((one) => (one < 0 ? 1 : one));
  const element = datatype === 'BYTES' ? 'a' : datatype === 'BOOL' ? true : 1;
  return { shape: size, datatype, data: new Array(size.reduce((a, b) => a * b, 1)).fill(element) };
};

type Tensor = { [K in keyof ReturnType<typeof good>]: unknown } & Record<string, unknown>;

function spoil(chance: SeededChance, tensor: ReturnType<typeof good>): Tensor {
  const at = chance.below(tensor.data.length);
  const broken: (() => Tensor)[] = [
    () => ({ ...tensor, data: tensor.data.with(at, chance.pick(ELEMENTS) as never).concat(tensor.data) }),
    () => ({ ...tensor, data: tensor.data.slice(1) }),
    () => ({ ...tensor, data: chance.pick([null, {}, [[tensor.data]], { data: tensor.data }]) }),
    () => ({ ...tensor, shape: [...tensor.shape.slice(1), chance.pick(DIMENSIONS)] }),
    () => ({ ...tensor, shape: tensor.shape.map(() => 2 ** (8 + chance.below(40))) }),
    () => ({ ...tensor, shape: [0, ...tensor.shape.map(() => 2 ** (22 + chance.below(25)))], data: [] }),
    () => ({ ...tensor, shape: new Array(chance.below(2_000)).fill(1).concat(3) }),
    () => ({ ...tensor, shape: chance.pick([null, {}, 'x', 4]) }),
    () => ({ ...tensor, datatype: `${chance.pick(TYPES)}?` }),
  ];
  return chance.pick(broken)();
}

function badPredict(chance: SeededChance, _: string, inputs: readonly Input[]): HostileRequest {
  const all = Object.fromEntries(inputs.map((input) => [input.name, good(input) as unknown]));
  const one = chance.pick(inputs);
  const broken: (() => unknown)[] = [
    () => ({ ...all, [one.name]: spoil(chance, good(one)) }),
    () => ({ ...all, [one.name]: spoil(chance, good(one)) }),
    () => JSON.parse(JSON.stringify(all).replace('{', `{${JSON.stringify(chance.pick(NAMES))}: 1,`)),
    () => Object.fromEntries(Object.entries(all).filter(([name]) => name !== one.name)),
    () => chance.pick([null, [], 'x', 7, [all]]),
  ];
  return predict(chance.pick(broken)());
}

function badInfer(chance: SeededChance, model: string, inputs: readonly Input[]): HostileRequest {
  const all: unknown[] = inputs.map((input) => ({ name: input.name, ...good(input) }));
  const at = chance.below(inputs.length);
  const one = inputs[at] as Input;
  const broken: (() => unknown)[] = [
    () => all.with(at, { name: one.name, ...spoil(chance, good(one)) }),
    () => all.with(at, { name: chance.pick(NAMES), ...good(one) }),
    () => all.concat(all),
    () => all.slice(1),
    () => all.with(at, chance.pick([null, [], 'x', {}])),
    () => chance.pick([null, {}, 'x', 7]),
  ];
  const body = Buffer.from(JSON.stringify({ inputs: chance.pick(broken)() }));
  return { path: infer(model), headers: JSON_TYPE, body };
}

/** Returns a request with wrong sizes of its binary data, or with a wrong length of its JSON. */
function badBinary(chance: SeededChance, model: string, inputs: readonly Input[]): HostileRequest {
  const sizes = inputs.map(({ shape }) => shape.reduce((size, one) => size * Math.abs(one), 4) + 3);
  const tensors = inputs.map(({ name, ...input }, at) => {
    const size = chance.pick([sizes[at], -1, 1.5, 2 ** 40, '16', null, 0, 1]);
    const shape = chance.pick([good({ name, ...input }).shape, [2 ** 30, 2 ** 20], [1]]);
    return { name, ...input, shape, parameters: { binary_data_size: size } };
  });
  const json = Buffer.from(JSON.stringify({ inputs: tensors }));
  const data = Buffer.alloc(chance.below(64), chance.below(256));
  const length = chance.pick([json.length, json.length - 3, json.length + 9, -1, 1e9, 'x', 1.5, '', '0x10']);
  return {
    path: infer(model),
    headers: { 'Content-Type': 'application/octet-stream', 'Inference-Header-Content-Length': String(length) },
    body: Buffer.concat([json, data]),
  };
}

function badText(chance: SeededChance, model: string): HostileRequest {
  const depth = 33 + chance.below(20_000);
  const texts = [
    `${'['.repeat(depth)}${']'.repeat(depth)}`,
    '{"a":'.repeat(depth),
    '{"inputs": {"input": [[1, 2, 3',
    '{"inputs": {"input": [[1, 2, 3, 4,]]}}',
    '\ufeff{',
    'NaN',
    '',
    '"inputs"',
    `{"inputs": {"input": ${'9'.repeat(3_000)}}}`,
  ];
  const noise = Buffer.from(Array.from({ length: 100 }, () => chance.below(256)));
  const body = chance.pick([...texts.map((text) => Buffer.from(text)), noise]);
  return { path: chance.pick(['/predict', infer(model)]), headers: JSON_TYPE, body };
}

function badPlace(chance: SeededChance, model: string): HostileRequest {
  const paths = ['/', '/predict/', '/health', '/v2/models//infer', '/v2/models/%00/infer', '/v2/models/%/infer'];
  const path = chance.pick([...paths, `/v2/models/${encodeURIComponent(model)}/versions/2/infer`, '/__proto__', '//']);
  return { path, headers: JSON_TYPE, body: Buffer.from('{}') };
}
