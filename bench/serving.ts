import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { imageModel, perceptron } from '../tests/support/onnx/bench-models.js';
import { ServingProcess } from '../tests/support/onnx/serving-process.js';

/**
 * What a serving process costs beside the model itself, and what batching gains. Each figure is the median of rounds that
 * alternate with those it is compared with. `npm run bench:serving [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = 1.5;

/** Requests a second of as many callers, each of which sends the next when it has its answer. */
type Load = () => Promise<number>;

const agent = new Agent({ keepAlive: true });

interface Body {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly content: Buffer;
}

function send(url: string, { path, headers, content }: Body): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { agent, method: 'POST', headers }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`answered ${response.statusCode}`));
      });
    });
    sent.once('error', reject).end(content);
  });
}

async function rate(once: () => Promise<unknown>, callers: number): Promise<number> {
  const begun = performance.now();
  let done = 0;
  const caller = async () => {
    for (; performance.now() - begun < SECONDS * 1_000; done++) await once();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return done / ((performance.now() - begun) / 1_000);
}

function binaryBody(input: string, data: Float32Array, shape: readonly number[]): Body {
  const parameters = { binary_data_size: data.byteLength };
  const inputs = [{ name: input, shape, datatype: 'FP32', parameters }];
  const json = Buffer.from(JSON.stringify({ inputs, parameters: { binary_data_output: true } }));
  const content = Buffer.concat([json, Buffer.from(data.buffer)]);
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Length': content.length,
    'Inference-Header-Content-Length': json.length,
  };
  return { path: '/v2/models/bench/infer', headers, content };
}

function jsonBody(inputs: object): Body {
  const content = Buffer.from(JSON.stringify({ inputs }));
  return {
    path: '/predict',
    headers: { 'Content-Type': 'application/json', 'Content-Length': content.length },
    content,
  };
}

/** Nested arrays of this shape. */
function nested(data: Float32Array, [size = 0, ...others]: readonly number[]): unknown {
  if (others.length === 0) return Array.from(data);
  const width = data.length / size;
  return Array.from({ length: size }, (_, at) => nested(data.subarray(at * width, (at + 1) * width), others));
}

const numbers = (length: number): Float32Array => Float32Array.from({ length }, (_, at) => Math.sin(at));

/** Medians of loads that take turns. */
async function compared<K extends string>(loads: Readonly<Record<K, Load>>): Promise<Record<K, number>> {
  const names = Object.keys(loads) as K[];
  const rates = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (const name of names) await loads[name]();
  for (let round = 0; round < ROUNDS; round++) for (const name of names) rates[name].push(await loads[name]());
  const medians = names.map((name) => [name, rates[name].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0]);
  for (const [name, median] of medians) console.log(`  ${`${name}`.padEnd(34)} ${Number(median).toFixed(1)} /s`);
  return Object.fromEntries(medians);
}

function verdict(what: string, value: number, limit: number): void {
  const met = value >= limit;
  console.log(`  ${what}: ${value.toFixed(2)} (${met ? 'at least' : 'NOT'} ${limit})`);
  if (!met) process.exitCode = 1;
}

async function images(folder: string): Promise<void> {
  const file = join(folder, 'image.onnx');
  writeFileSync(file, imageModel());
  const shape = [1, 3, 224, 224];
  const data = numbers(3 * 224 * 224);
  const session = await InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const serving = await ServingProcess.start(file, { name: 'bench' });
  const binary = binaryBody('image', data, shape);
  const json = jsonBody({ image: nested(data, shape) });
  console.log('[1,3,224,224]');
  const found = await compared({
    'in process': () => rate(() => session.run({ image: new Tensor('float32', data, shape) }), 1),
    'binary, 4 callers': () => rate(() => send(serving.url, binary), 4),
    'nested JSON, 4 callers': () => rate(() => send(serving.url, json), 4),
  });
  await serving.end();
  verdict('binary / in process', found['binary, 4 callers'] / found['in process'], 0.4);
  verdict('binary / nested JSON', found['binary, 4 callers'] / found['nested JSON, 4 callers'], 20);
}

async function batches(folder: string, widths: readonly number[]): Promise<void> {
  const file = join(folder, 'perceptron.onnx');
  writeFileSync(file, perceptron(widths));
  const body = binaryBody('x', numbers(widths[0] as number), [1, widths[0] as number]);
  const plain = await ServingProcess.start(file, { name: 'bench' });
  const batching = await ServingProcess.start(file, { name: 'bench', maxBatch: 32, maxDelayMs: 5 });
  console.log(`perceptron ${widths.join('-')}`);
  const found = await compared({
    'unbatched, 1 caller': () => rate(() => send(plain.url, body), 1),
    'batching, 1 caller': () => rate(() => send(batching.url, body), 1),
    'unbatched, 32 callers': () => rate(() => send(plain.url, body), 32),
    'batching, 32 callers': () => rate(() => send(batching.url, body), 32),
  });
  await plain.end();
  await batching.end();
  verdict('32 callers / 1 caller', found['batching, 32 callers'] / found['unbatched, 1 caller'], 4);
  verdict('1 caller, batching / unbatched', found['batching, 1 caller'] / found['unbatched, 1 caller'], 0.9);
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  try {
    await images(folder);
    for (const width of process.argv[3]?.split(',') ?? ['1024'])
      await batches(folder, [128, Number(width), Number(width), 10]);
  } finally {
    rmSync(folder, { recursive: true });
    agent.destroy();
  }
}

void main();
