import { parentPort, workerData } from 'node:worker_threads';
import type { Finding } from '../../../domain/shared/errors.js';
import { Codec, type RequestBody, type ResponseBody } from './codec.js';
import type { InferenceRequest, ResponseFormat } from './inference-request.js';
import { type ErrorCode, RequestError } from './request-error.js';
import { buffersOf, type Signature, type Tensors } from './tensors.js';

export type CodecRequest =
  | { readonly type: 'decode'; readonly body: RequestBody }
  | { readonly type: 'encode'; readonly format: ResponseFormat; readonly outputs: Tensors };

export type CodecResponse =
  | { readonly type: 'decoded'; readonly request: InferenceRequest }
  | { readonly type: 'encoded'; readonly body: ResponseBody }
  | { readonly type: 'refused'; readonly code: ErrorCode; readonly message: string; readonly details?: Finding[] };

export interface CodecSettings {
  readonly signature: Signature;
  readonly name: string;
}

// The program of the thread that converts large bodies. The main thread stays free for other requests.
const { signature, name } = workerData as CodecSettings;
const codec = new Codec(signature, name);

parentPort?.on('message', (request: CodecRequest) => {
  const response = respond(request);
  parentPort?.postMessage(response, transferOf(response));
});

function respond(request: CodecRequest): CodecResponse {
  try {
    if (request.type === 'decode') return { type: 'decoded', request: codec.decode(request.body) };
    return { type: 'encoded', body: codec.encode(request.format, request.outputs) };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { code, message, details } = error;
    return { type: 'refused', code, message, ...(details && { details: [...details] }) };
  }
}

/** Returns the memory to move to the main thread. Small buffers share their memory, so they are copied instead. */
function transferOf(response: CodecResponse): ArrayBuffer[] {
  if (response.type === 'decoded') return buffersOf(response.request.inputs);
  if (response.type === 'refused') return [];
  const whole = response.body.parts.filter(({ buffer, byteLength }) => buffer.byteLength === byteLength);
  return [...new Set(whole.map(({ buffer }) => buffer as ArrayBuffer))];
}
