import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import type { Prediction, PredictionCall } from '../../application/deployments/ports.js';
import { InferenceTimeout, RuntimeInvalidResponse } from '../../domain/chat/errors.js';

/** An answer that is no longer than this is told when all of it is there, so that half of it becomes a clean refusal. */
const WHOLE_BYTES = 1_024 * 1_024;

const PASSED_HEADERS = ['content-type', 'content-length', 'retry-after', 'x-should-retry'] as const;

/** Sends a prediction to a serving process; throws and promises what `ModelServers.predict` does. */
export async function requestPrediction(
  port: number,
  call: PredictionCall,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Prediction> {
  signal.throwIfAborted();
  const overtime = new AbortController();
  const timer = setTimeout(() => overtime.abort(new InferenceTimeout(timeoutMs / 1_000)), timeoutMs).unref();
  const ended = AbortSignal.any([signal, overtime.signal]);
  try {
    const response = await answered(requestTo(port, call, ended), call, timer, ended);
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
  // A connection for each: one that is kept open may close while a body is on its way that can't be sent again.
  return request({ host: '127.0.0.1', port, path: '/predict', method: 'POST', headers, agent: false, signal });
}

function answered(
  sent: ClientRequest,
  { body }: PredictionCall,
  timer: NodeJS.Timeout,
  ended: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const source = Readable.from(noted(body.chunks, timer), { objectMode: false });
    sent.once('response', resolve);
    sent.on('error', (error) => reject(reasonOf(error, ended)));
    sent.once('close', () => source.destroy());
    source.once('error', (error) => {
      reject(ended.aborted ? ended.reason : error);
      sent.destroy();
    });
    source.pipe(sent);
  });
}

/** The pieces as they come; each begins the time anew. */
async function* noted(chunks: AsyncIterable<Uint8Array>, timer: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    timer.refresh();
    yield chunk;
  }
}

async function predictionOf(response: IncomingMessage, timer: NodeJS.Timeout, ended: AbortSignal): Promise<Prediction> {
  const { statusCode: status = 0, headers: all } = response;
  const isAnswer = status === 200 || (status >= 400 && status < 500) || status === 504;
  if (!isAnswer || !/^application\/json\b/.test(all['content-type'] ?? '')) {
    response.destroy();
    throw new RuntimeInvalidResponse(`it answered with status ${status} and no result.`);
  }
  const given = PASSED_HEADERS.map((name) => [name, all[name]]).filter(([, value]) => value !== undefined);
  const headers: Record<string, string> = Object.fromEntries(given);
  const chunks = passed(response, timer, ended);
  const isShort = Number(all['content-length'] ?? Number.POSITIVE_INFINITY) <= WHOLE_BYTES;
  return { status, headers, body: isShort ? await whole(chunks) : chunks, complete: isShort };
}

async function* passed(
  response: IncomingMessage,
  timer: NodeJS.Timeout,
  ended: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) {
      timer.refresh();
      yield chunk;
    }
  } catch (error) {
    throw reasonOf(error, ended);
  } finally {
    clearTimeout(timer);
  }
}

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Readable.from(all);
}

function reasonOf(error: unknown, ended: AbortSignal): unknown {
  if (ended.aborted) return ended.reason;
  const { code } = error as NodeJS.ErrnoException;
  return new RuntimeInvalidResponse(`its process broke off${code ? ` (${code})` : ''}.`);
}
