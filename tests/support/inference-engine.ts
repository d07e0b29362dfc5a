import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { LocalServer, sendJson } from './local-server.js';

export interface Inference {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any request
  readonly json: any;
  /** Contains the bytes after the JSON. */
  readonly binary: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
}

export type Answering = (asked: Inference, response: ServerResponse, over?: object) => unknown;

/**
 * An engine for the Open Inference Protocol. A test can change its answers. Its models double the input `x` to the
 * output `y`, both FP32 of shape [-1, 2]. They also name an output `m`, INT64 of shape [-1].
 */
export class InferenceEngine extends LocalServer {
  /** Lists `method path` of all requests in order of arrival. */
  requests: string[] = [];
  asked: Inference[] = [];
  ready = new Set(['double']);
  /** The status of the answers to load and unload. With 200, these calls change `ready`. */
  repository = 404;
  /** The key that requests must have. With null, they may have any. */
  key: string | null = null;
  answering: Answering = doubling;
  /** Answers all requests in place of the engine. */
  override: ((path: string, response: ServerResponse) => unknown) | null = null;
  extensions = ['binary_tensor_data', 'model_repository', 'statistics'];
  metadata: object = {
    versions: ['1', '2'],
    platform: 'onnxruntime_onnx',
    inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 2] }],
    outputs: [
      { name: 'y', datatype: 'FP32', shape: [-1, 2] },
      { name: 'm', datatype: 'INT64', shape: [-1] },
    ],
  };

  static start(port = 0): Promise<InferenceEngine> {
    return new InferenceEngine().listen(port);
  }

  get url(): string {
    return `http://${this.host}`;
  }

  /** Forgets all requests, and answers like a new engine. */
  reset(): void {
    const { requests, asked, ready, repository, key, answering, override, metadata } = new InferenceEngine();
    Object.assign(this, { requests, asked, ready, repository, key, answering, override, metadata });
  }

  /** Counts the requests whose line in `requests` ends with `end`. */
  count(end: string): number {
    return this.requests.filter((one) => one.endsWith(end)).length;
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    this.requests.push(`${request.method} ${path}`);
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    if (this.override) return void this.override(path, response);
    if (this.key !== null && request.headers.authorization !== `Bearer ${this.key}`)
      return void sendJson(response, 401, { error: `no key, but ${request.headers.authorization}` });
    const [, model = '', version = '', last = ''] = MODEL.exec(path) ?? [];
    const [, managed = '', action] = REPOSITORY.exec(path) ?? [];
    if (path === '/v2') sendJson(response, 200, { name: 'scripted', version: '3.1', extensions: this.extensions });
    else if (path.startsWith('/v2/health/')) response.writeHead(200).end();
    else if (action) this.manage(decodeURIComponent(managed), action, response);
    else if (!this.ready.has(decodeURIComponent(model)) || !['', '1', '2'].includes(version))
      sendJson(response, 400, { error: `no model ${model}` });
    else if (last === '/ready') response.writeHead(200).end();
    else if (last === '') sendJson(response, 200, { name: decodeURIComponent(model), ...this.metadata });
    else {
      const length = Number(request.headers['inference-header-content-length'] ?? body.length);
      const json = JSON.parse(body.subarray(0, length).toString());
      const asked = { json, binary: body.subarray(length), headers: request.headers, path };
      this.asked.push(asked);
      this.answering(asked, response);
    }
  }

  private manage(model: string, action: string, response: ServerResponse): void {
    const { repository } = this;
    if (repository === 200 && action === 'load') this.ready.add(model);
    if (repository === 200 && action === 'unload') this.ready.delete(model);
    sendJson(response, repository, repository === 200 ? {} : { error: 'not possible' });
  }
}

const MODEL = /^\/v2\/models\/([^/]+)(?:\/versions\/([^/]+))?(\/ready|\/infer)?$/;
const REPOSITORY = /^\/v2\/repository\/models\/([^/]+)\/(load|unload)$/;

const modelOf = (path: string): string => decodeURIComponent(MODEL.exec(path)?.[1] ?? '');

/** Answers with these outputs. `over` adds or replaces other fields. */
export const answeringWith =
  (outputs: unknown, over: object = {}): Answering =>
  ({ path, json }, response) =>
    sendJson(response, 200, { id: json.id, model_name: modelOf(path), model_version: '1', outputs, ...over });

/** Doubles the numbers of `x`. Answers in binary if it is asked to. */
export const doubling: Answering = (asked, response, over = {}) => {
  const { json, binary, path } = asked;
  const [input] = json.inputs;
  const size = input.parameters?.binary_data_size;
  const numbers: number[] = size
    ? [...new Float32Array(Uint8Array.from(binary.subarray(0, size)).buffer)]
    : input.data.flat(8);
  const doubled = numbers.map((one) => 2 * one);
  const { shape, datatype } = input;
  const asBytes = json.parameters?.binary_data_output || json.outputs?.[0]?.parameters?.binary_data;
  if (!asBytes) return answeringWith([{ name: 'y', shape, datatype, data: doubled }], over)(asked, response);
  const bytes = Buffer.from(Float32Array.from(doubled).buffer);
  const y = { name: 'y', shape, datatype, parameters: { binary_data_size: bytes.length } };
  return sendBinary(
    response,
    { id: json.id, model_name: modelOf(path), model_version: '1', outputs: [y], ...over },
    bytes,
  );
};

/** Sends JSON, and after it the bytes of binary tensors. */
export function sendBinary(response: ServerResponse, json: object, bytes: Uint8Array, length?: number): void {
  const head = Buffer.from(JSON.stringify(json));
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Inference-Header-Content-Length': String(length ?? head.length),
  };
  response.writeHead(200, headers).end(Buffer.concat([head, bytes]));
}
