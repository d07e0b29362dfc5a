import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import type { ModelAnswer, ModelOperation, ModelRequest } from '../../application/deployments/ports.js';
import type { ByteStream } from '../../application/shared/ports.js';
import { InferenceTimeout, RuntimeInvalidResponse } from '../../domain/chat/errors.js';
import { NotFound } from '../../domain/shared/errors.js';
import { LENGTH_HEADER, MODEL_VERSION } from './protocol.js';

/** A shorter answer is passed on only when it is complete. If it is cut off, the caller gets a clean error. */
const BUFFERED_BYTES = 1_024 * 1_024;

/** A request body of at most this length is sent in one piece, so that it can be sent again. */
const WHOLE_BYTES = 64 * 1_024;

/** Closes idle connections long before the model server does (`keepAliveTimeout`). */
const keepAliveAgent = new Agent({ keepAlive: true, timeout: 30_000, maxFreeSockets: 32 });

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
  const deadline = new Deadline(timeoutMs, signal);
  try {
    const response = await send(url + paths[call.operation](id), call, deadline);
    return await answerOf(response, deadline);
  } catch (error) {
    deadline.clear();
    throw error;
  }
}

/** Ends a request when its signal aborts, or when no data has moved for `timeoutMs`. */
class Deadline {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly timeoutMs: number,
    signal: AbortSignal,
  ) {
    // A listener costs far less than `AbortSignal.any`. It is never removed, because each signal belongs to one
    // request.
    signal.addEventListener('abort', () => this.controller.abort(signal.reason), { once: true });
  }

  /** Starts the timer, or starts it again. */
  refresh(): void {
    const expire = () => this.controller.abort(new InferenceTimeout(this.timeoutMs / 1_000));
    if (this.timer) this.timer.refresh();
    else this.timer = setTimeout(expire, this.timeoutMs).unref();
  }

  /** Calls `end` with the reason when the request has to end. */
  onExpiry(end: (reason: unknown) => void): void {
    const { signal } = this.controller;
    if (signal.aborted) end(signal.reason);
    else signal.addEventListener('abort', () => end(signal.reason), { once: true });
  }

  clear(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Returns why a request failed. */
  reasonOf(error: unknown): unknown {
    if (this.controller.signal.aborted) return this.controller.signal.reason;
    const { code } = error as NodeJS.ErrnoException;
    return new RuntimeInvalidResponse(`its process broke off${code ? ` (${code})` : ''}.`);
  }
}

async function send(url: string, call: ModelRequest, deadline: Deadline): Promise<IncomingMessage> {
  const { body, jsonLength, requestId, trace } = call;
  const headers = {
    'X-Request-Id': requestId,
    ...trace,
    ...(body && { 'Content-Type': jsonLength === null ? 'application/json' : 'application/octet-stream' }),
    ...(body && body.length !== null && { 'Content-Length': body.length }),
    ...(jsonLength !== null && { [LENGTH_HEADER]: jsonLength }),
  };
  const open = (agent: Agent | false) => request(url, { method: body ? 'POST' : 'GET', headers, agent });
  if (body && (body.length === null || body.length > WHOLE_BYTES)) return sendPieces(open(false), body, deadline);
  const whole = body && (await readWhole(body, deadline));
  deadline.refresh();
  const outgoing = open(keepAliveAgent);
  return sendWhole(outgoing, whole, deadline).catch((error: unknown) => {
    // A kept-alive connection may have closed in the meantime. A prediction changes nothing, so it can be sent twice.
    if (!outgoing.reusedSocket || !(error instanceof RuntimeInvalidResponse)) throw error;
    return sendWhole(open(false), whole, deadline);
  });
}

function readWhole({ chunks }: ByteStream, deadline: Deadline): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    deadline.onExpiry(reject);
    const gather = async () => {
      const pieces: Uint8Array[] = [];
      for await (const piece of chunks) pieces.push(piece);
      return Buffer.concat(pieces);
    };
    gather().then(resolve, reject);
  });
}

function sendWhole(outgoing: ClientRequest, body: Uint8Array | null, deadline: Deadline): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve).on('error', (error) => reject(deadline.reasonOf(error)));
    deadline.onExpiry(() => outgoing.destroy());
    outgoing.end(body ?? undefined);
  });
}

/** Sends a body that cannot be sent twice. The connection must be new, because an old one may close meanwhile. */
function sendPieces(outgoing: ClientRequest, { chunks }: ByteStream, deadline: Deadline): Promise<IncomingMessage> {
  deadline.refresh();
  return new Promise((resolve, reject) => {
    const source = Readable.from(arriving(chunks, deadline), { objectMode: false });
    outgoing.once('response', resolve).on('error', (error) => reject(deadline.reasonOf(error)));
    outgoing.once('close', () => source.destroy());
    deadline.onExpiry((reason) => {
      reject(reason);
      outgoing.destroy();
    });
    source.once('error', (error) => {
      reject(error);
      outgoing.destroy();
    });
    source.pipe(outgoing);
  });
}

async function answerOf(response: IncomingMessage, deadline: Deadline): Promise<ModelAnswer> {
  const { statusCode: status = 0, headers: all } = response;
  const isAnswer = status === 200 || (status >= 400 && status < 500) || status === 504;
  if (!isAnswer || !/^application\/(json|octet-stream)\b/.test(all['content-type'] ?? '')) {
    response.destroy();
    throw new RuntimeInvalidResponse(`it answered with status ${status} and no result.`);
  }
  const forwarded = FORWARDED_HEADERS.map((name) => [name, all[name]]).filter(([, value]) => value !== undefined);
  const headers: Record<string, string> = Object.fromEntries(forwarded);
  const isShort = Number(all['content-length'] ?? Number.POSITIVE_INFINITY) <= BUFFERED_BYTES;
  return { status, headers, body: isShort ? await wholeBodyOf(response, deadline) : piecesOf(response, deadline) };
}

function wholeBodyOf(response: IncomingMessage, deadline: Deadline): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    response.on('data', (piece: Buffer) => {
      deadline.refresh();
      pieces.push(piece);
    });
    response.once('end', () => {
      deadline.clear();
      resolve(Buffer.concat(pieces));
    });
    response.once('error', (error) => reject(deadline.reasonOf(error)));
  });
}

async function* piecesOf(response: IncomingMessage, deadline: Deadline): AsyncGenerator<Uint8Array> {
  try {
    yield* refreshing(response, deadline);
  } catch (error) {
    throw deadline.reasonOf(error);
  } finally {
    deadline.clear();
  }
}

/** Yields the body of a request. Stops the timer while the service waits for the sender. */
async function* arriving(chunks: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array> {
  deadline.clear();
  for await (const chunk of chunks) {
    deadline.refresh();
    yield chunk;
    deadline.clear();
  }
  deadline.refresh();
}

/** Starts the timer again with each piece. */
async function* refreshing(chunks: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    deadline.refresh();
    yield chunk;
  }
}
