import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Prediction, PredictionCall } from '../../application/deployments/ports.js';
import { InferenceTimeout, RuntimeInvalidResponse } from '../../domain/chat/errors.js';

/** A shorter answer is passed on only when it is complete, so that a broken one becomes a clean refusal. */
const BUFFERED_BYTES = 1_024 * 1_024;

const FORWARDED_HEADERS = ['content-type', 'content-length', 'retry-after', 'x-should-retry'] as const;

/** Sends a prediction to a model server on this machine. Keeps the promises of `ModelServer.predict`. */
export async function requestPrediction(
  port: number,
  call: PredictionCall,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Prediction> {
  signal.throwIfAborted();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new InferenceTimeout(timeoutMs / 1_000)), timeoutMs).unref();
  const ended = AbortSignal.any([signal, timeout.signal]);
  try {
    const response = await send(requestTo(port, call, ended), call, timer, ended);
    return await predictionOf(response, timer, ended);
  } catch (error) {
    clearTimeout(timer);
    throw error;
  }
}

function requestTo(port: number, { body, requestId }: PredictionCall, signal: AbortSignal): ClientRequest {
  const headers = {
    'Content-Type': 'application/json',
    'X-Request-Id': requestId,
    ...(body.length !== null && { 'Content-Length': body.length }),
  };
  // Keep-alive is off: a kept connection may close while a body is on its way that cannot be sent twice.
  return request({ host: '127.0.0.1', port, path: '/predict', method: 'POST', headers, agent: false, signal });
}

/** Streams the body. The time for the answer begins anew with each chunk. */
function send(
  outgoing: ClientRequest,
  { body }: PredictionCall,
  timer: NodeJS.Timeout,
  ended: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const source = Readable.from(refreshing(body.chunks, timer), { objectMode: false });
    outgoing.once('response', resolve);
    outgoing.on('error', (error) => reject(failureOf(error, ended)));
    outgoing.once('close', () => source.destroy());
    source.once('error', (error) => {
      reject(ended.aborted ? ended.reason : error);
      outgoing.destroy();
    });
    source.pipe(outgoing);
  });
}

async function predictionOf(response: IncomingMessage, timer: NodeJS.Timeout, ended: AbortSignal): Promise<Prediction> {
  const { statusCode: status = 0, headers: all } = response;
  const isAnswer = status === 200 || (status >= 400 && status < 500) || status === 504;
  if (!isAnswer || !/^application\/json\b/.test(all['content-type'] ?? '')) {
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
