import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ServeOrder, ServerMessage } from '../../../src/infrastructure/model-server/protocol.js';

const program = join(process.cwd(), 'dist/src/infrastructure/model-server/process/main.js');

export const fixture = (name: string): string => join(process.cwd(), 'tests/fixtures/onnx', name);

/** Runs a model server, started as the supervisor does. */
export class ServingProcess {
  private written = '';

  private constructor(
    readonly child: ChildProcess,
    readonly order: ServeOrder,
    readonly url: string,
  ) {}

  static async start(file: string, about: Partial<ServeOrder> = {}): Promise<ServingProcess> {
    const { child, order, report, output } = await begin(file, about);
    if (report.type !== 'listening') throw new Error(`${'reason' in report ? report.reason : report.type} ${output()}`);
    const started = new ServingProcess(child, order, `http://127.0.0.1:${report.port}`);
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        started.written += chunk;
      });
    return started;
  }

  /** Returns the reason why a file cannot be served, and the exit code. */
  static async broken(file: string): Promise<{ reason: string; code: number | null }> {
    const { child, report } = await begin(file, {});
    if (report.type !== 'broken') throw new Error('the file was served');
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
    return { reason: report.reason, code };
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get output(): string {
    return this.written;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async get(path: string, headers: Record<string, string> = {}) {
    const response = await fetch(`${this.url}${path}`, { headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const content = body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body);
    const all = { 'Content-Type': 'application/json', ...headers };
    const response = await fetch(`${this.url}${path}`, { method: 'POST', headers: all, body: content as string });
    const bytes = Buffer.from(await response.arrayBuffer());
    const length = Number(response.headers.get('Inference-Header-Content-Length') ?? bytes.length);
    const json = JSON.parse(bytes.subarray(0, length).toString());
    return { status: response.status, headers: response.headers, body: json, binary: bytes.subarray(length) };
  }

  predict(inputs: unknown, more: object = {}) {
    return this.post('/predict', { inputs, ...more });
  }

  /** Sends an inference request. The data of its inputs may be bytes. */
  infer(inputs: readonly { data: unknown }[], more: object = {}) {
    const parts: Uint8Array[] = [];
    const tensors = inputs.map(({ data, ...tensor }) => {
      if (!(data instanceof Uint8Array)) return { ...tensor, data };
      parts.push(data);
      return { ...tensor, parameters: { binary_data_size: data.length } };
    });
    const json = Buffer.from(JSON.stringify({ inputs: tensors, ...more }));
    const path = `/v2/models/${encodeURIComponent(this.order.name)}/infer`;
    if (parts.length === 0) return this.post(path, json);
    const headers = {
      'Content-Type': 'application/octet-stream',
      'Inference-Header-Content-Length': String(json.length),
    };
    return this.post(path, Buffer.concat([json, ...parts]), headers);
  }

  /** Ends the process with a signal. Returns the exit code, or null if the signal ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (!this.isAlive) return this.child.exitCode;
    this.child.kill(signal);
    const [code] = await once(this.child, 'exit');
    return code;
  }
}

async function begin(file: string, about: Partial<ServeOrder>) {
  const child = fork(program, [], { env: {}, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let output = '';
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const order: ServeOrder = {
    type: 'serve',
    id: 'dep_1',
    name: 'a model',
    file,
    modelPath: 'models/a.onnx',
    threads: 1,
    secret: randomBytes(32).toString('hex'),
    maxBatch: null,
    maxDelayMs: 5,
    bodyLimit: 64 * 1_024 * 1_024,
    inferenceTimeoutMs: 60_000,
    graceMs: 5_000,
    ...about,
  };
  child.send(order);
  const report = await new Promise<ServerMessage>((resolve, reject) => {
    child.once('message', (message) => resolve(message as ServerMessage));
    child.once('exit', (code, signal) => reject(new Error(`ended (${code ?? signal}) ${output}`)));
  });
  return { child, order, report, output: () => output };
}
