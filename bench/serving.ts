import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { ServingProcess } from '../tests/support/model-server/serving-process.js';
import { imageModel, perceptron } from './serving/models.js';

/**
 * Compares a model server with the model in this process, and a model server that makes batches with one that does not.
 * The loads take turns in short rounds. The figures are medians.
 * `npm run bench:serving [rounds] [width of the perceptron]`
 */
const ROUNDS = Number(process.argv[2] ?? 15);
const WIDTH = Number(process.argv[3] ?? 512);
const SECONDS = 0.4;

type Load = () => Promise<number>;

/** Repeats one request on its own connection. Needs little processor time, which is left to the model server. */
class Caller {
  private answer: Buffer = Buffer.alloc(0);
  private answered: () => void = () => undefined;

  private constructor(
    private readonly socket: Socket,
    private readonly request: Buffer,
  ) {
    socket.setNoDelay(true).on('data', (chunk) => this.take(chunk));
  }

  static async to(url: string, request: Buffer): Promise<Caller> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Caller(socket, request);
  }

  call(): Promise<void> {
    this.socket.write(this.request);
    return new Promise((resolve) => {
      this.answered = resolve;
    });
  }

  end(): void {
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    this.answer = this.answer.length ? Buffer.concat([this.answer, chunk]) : chunk;
    const end = this.answer.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.answer.toString('latin1', 0, end);
    if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(this.answer.toString());
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    if (this.answer.length < end + 4 + length) return;
    this.answer = Buffer.alloc(0);
    this.answered();
  }
}

/** Returns the answers a second. Each caller makes its next call after the previous answer. */
async function rate(calls: readonly (() => Promise<unknown>)[]): Promise<number> {
  const begun = performance.now();
  let done = 0;
  const caller = async (call: () => Promise<unknown>) => {
    for (; performance.now() - begun < SECONDS * 1_000; done++) await call();
  };
  await Promise.all(calls.map(caller));
  return done / ((performance.now() - begun) / 1_000);
}

const open: Caller[] = [];

/** Connects callers. Returns a load in which each of them repeats the request. */
async function load({ url }: ServingProcess, request: Buffer, callers: number): Promise<Load> {
  const all = await Promise.all(Array.from({ length: callers }, () => Caller.to(url, request)));
  open.push(...all);
  return () => rate(all.map((caller) => () => caller.call()));
}

function httpRequest(path: string, headers: Readonly<Record<string, string | number>>, content: Buffer): Buffer {
  const all = Object.entries({ Host: 'localhost', ...headers, 'Content-Length': content.length });
  const lines = [`POST ${path} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), content]);
}

function binaryRequest(input: string, data: Float32Array, shape: readonly number[]): Buffer {
  const parameters = { binary_data_size: data.byteLength };
  const inputs = [{ name: input, shape, datatype: 'FP32', parameters }];
  const json = Buffer.from(JSON.stringify({ inputs, parameters: { binary_data_output: true } }));
  const headers = { 'Content-Type': 'application/octet-stream', 'Inference-Header-Content-Length': json.length };
  return httpRequest('/v2/models/bench/infer', headers, Buffer.concat([json, Buffer.from(data.buffer)]));
}

const jsonRequest = (inputs: object): Buffer =>
  httpRequest('/predict', { 'Content-Type': 'application/json' }, Buffer.from(JSON.stringify({ inputs })));

/** Returns nested arrays of this shape. */
function nested(data: Float32Array, [size = 0, ...others]: readonly number[]): unknown {
  if (others.length === 0) return Array.from(data);
  const width = data.length / size;
  return Array.from({ length: size }, (_, at) => nested(data.subarray(at * width, (at + 1) * width), others));
}

const numbers = (length: number): Float32Array => Float32Array.from({ length }, (_, at) => Math.sin(at));

/** Runs loads in turns and prints their medians. Returns the median speed of each relative to the first load. */
async function compared(loads: Readonly<Record<string, Load>>): Promise<number[]> {
  const rounds: number[][] = [];
  for (const run of Object.values(loads)) await run();
  for (let round = 0; round < ROUNDS; round++) {
    const rates: number[] = [];
    for (const run of Object.values(loads)) rates.push(await run());
    rounds.push(rates);
  }
  const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
  for (const [at, name] of Object.keys(loads).entries())
    console.log(`  ${name.padEnd(34)} ${median(rounds.map((rates) => rates[at] as number)).toFixed(1)} /s`);
  return Object.keys(loads).map((_, at) => median(rounds.map((rates) => (rates[at] as number) / (rates[0] as number))));
}

function verdict(name: string, value: number, limit: number): void {
  const met = value >= limit;
  console.log(`  ${name}: ${value.toFixed(2)} (${met ? 'at least' : 'NOT'} ${limit})`);
  if (!met) process.exitCode = 1;
}

async function images(folder: string): Promise<void> {
  const file = join(folder, 'image.onnx');
  writeFileSync(file, imageModel());
  const shape = [1, 3, 224, 224];
  const data = numbers(3 * 224 * 224);
  const session = await InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const serving = await ServingProcess.start(file, { name: 'bench' });
  console.log('[1,3,224,224]');
  const binary = await load(serving, binaryRequest('image', data, shape), 4);
  const [, part = 0] = await compared({
    'in process': () => rate([() => session.run({ image: new Tensor('float32', data, shape) })]),
    'binary, 4 callers': binary,
  });
  verdict('binary / in process', part, 0.4);
  const [, times = 0] = await compared({
    'nested JSON, 4 callers': await load(serving, jsonRequest({ image: nested(data, shape) }), 4),
    'binary, 4 callers': binary,
  });
  verdict('binary / nested JSON', times, 20);
  await serving.end('SIGKILL');
}

async function batches(folder: string, width: number): Promise<void> {
  const file = join(folder, 'perceptron.onnx');
  writeFileSync(file, perceptron([128, width, width, 10]));
  const request = binaryRequest('x', numbers(128), [1, 128]);
  const plain = await ServingProcess.start(file, { name: 'bench' });
  const batching = await ServingProcess.start(file, { name: 'bench', maxBatch: 32, maxDelayMs: 5 });
  console.log(`a perceptron with two hidden layers of ${width}`);
  const lone = await load(plain, request, 1);
  const [, cost = 0] = await compared({
    'unbatched, 1 caller': lone,
    'batching, 1 caller': await load(batching, request, 1),
  });
  verdict('batching / unbatched, 1 caller', cost, 0.9);
  const [, , gain = 0] = await compared({
    'unbatched, 1 caller': lone,
    'unbatched, 32 callers': await load(plain, request, 32),
    'batching, 32 callers': await load(batching, request, 32),
  });
  verdict('batching, 32 callers / unbatched, 1', gain, 4);
  await plain.end('SIGKILL');
  await batching.end('SIGKILL');
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  try {
    await images(folder);
    await batches(folder, WIDTH);
  } finally {
    for (const caller of open) caller.end();
    rmSync(folder, { recursive: true });
  }
}

void main();
