import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ModelAnswer, ModelOperation, ModelRequest } from '../../application/deployments/ports.js';
import type { ByteStream } from '../../application/shared/ports.js';
import { InferenceTimeout, RuntimeInvalidResponse } from '../../domain/chat/errors.js';
import { NotFound } from '../../domain/shared/errors.js';
import { LENGTH_HEADER, MODEL_VERSION } from './protocol.js';

/** A shorter answer is passed on only when it is complete, so that a broken one becomes a clean refusal. */
const BUFFERED_BYTES = 1_024 * 1_024;

const LENGTH = LENGTH_HEADER.toLowerCase();
const FORWARDED_HEADERS = ['content-type', 'content-length', LENGTH, 'retry-after', 'x-should-retry'] as const;

const paths: Readonly<Record<ModelOperation, (model: string) => string>> = {
  predict: () => '/predict',
  infer: (model) => `/v2/models/${model}/infer`,
  model_metadata: (model) => `/v2/models/${model}`,
  model_ready: (model) => `/v2/models/${model}/ready`,
  server_metadata: () => '/v2',
  server_live: () => '/v2/health/live',
  server_ready: () => '/v2/health/ready',
};

/** Sends a request to a model server on this machine. Keeps the promises of `ModelServer.request`. */
export async function requestModel(
  url: string,
  id: string,
  call: ModelRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  signal.throwIfAborted();
  if (call.version !== null && call.version !== MODEL_VERSION) throw new NotFound('version of the model');
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new InferenceTimeout(timeoutMs / 1_000)), timeoutMs).unref();
  const ended = AbortSignal.any([signal, timeout.signal]);
  try {
    const target = new URL(paths[call.operation](id), url);
    const response = await send(requestTo(target, call, ended), call.body, timer, ended);
    return await answerOf(response, timer, ended);
  } catch (error) {
    clearTimeout(timer);
    throw error;
  }
}

function requestTo(url: URL, { body, jsonLength, requestId, trace }: ModelRequest, signal: AbortSignal): ClientRequest {
  const headers = {
    'X-Request-Id': requestId,
    ...trace,
    ...(body && { 'Content-Type': jsonLength === null ? 'application/json' : 'application/octet-stream' }),
    ...(body && body.length !== null && { 'Content-Length': body.length }),
    ...(jsonLength !== null && { [LENGTH_HEADER]: jsonLength }),
  };
  // Keep-alive is off: a kept connection may close while a body is on its way that cannot be sent twice.
  return request(url, { method: body ? 'POST' : 'GET', headers, agent: false, signal });
}

/** Streams the body. The time for the answer begins anew with each chunk. */
function send(
  outgoing: ClientRequest,
  body: ByteStream | null,
  timer: NodeJS.Timeout,
  ended: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.on('error', (error) => reject(failureOf(error, ended)));
    if (!body) return void outgoing.end();
    const source = Readable.from(refreshing(body.chunks, timer), { objectMode: false });
    outgoing.once('close', () => source.destroy());
    source.once('error', (error) => {
      reject(ended.aborted ? ended.reason : error);
      outgoing.destroy();
    });
    source.pipe(outgoing);
  });
}

async function answerOf(response: IncomingMessage, timer: NodeJS.Timeout, ended: AbortSignal): Promise<ModelAnswer> {
  const { statusCode: status = 0, headers: all } = response;
  const isAnswer = status === 200 || (status >= 400 && status < 500) || status === 504;
  if (!isAnswer || !/^application\/(json|octet-stream)\b/.test(all['content-type'] ?? '')) {
    response.destroy();
    throw new RuntimeInvalidResponse(`it answered with status ${status} and no result.`);
  }
  const given = FORWARDED_HEADERS.map((name) => [name, all[name]]).filter(([, value]) => value !== undefined);
  const headers: Record<string, string> = Object.fromEntries(given);
  const chunks = bodyOf(response, timer, ended);
  const complete = Number(all['content-length'] ?? Number.POSITIVE_INFINITY) <= BUFFERED_BYTES;
  return { status, headers, body: complete ? Readable.from([await buffer(chunks)]) : chunks, complete };
}

async function* bodyOf(
  response: IncomingMessage,
  timer: NodeJS.Timeout,
  ended: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* refreshing(response, timer);
  } catch (error) {
    throw failureOf(error, ended);
  } finally {
    clearTimeout(timer);
  }
}

async function* refreshing(chunks: AsyncIterable<Uint8Array>, timer: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    timer.refresh();
    yield chunk;
  }
}

function failureOf(error: unknown, ended: AbortSignal): unknown {
  if (ended.aborted) return ended.reason;
  const { code } = error as NodeJS.ErrnoException;
  return new RuntimeInvalidResponse(`its process broke off${code ? ` (${code})` : ''}.`);
}
