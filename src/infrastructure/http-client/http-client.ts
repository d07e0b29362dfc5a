/**
 * A small HTTP client for adapters that call other servers. It keeps connections open between requests. It follows no
 * redirects and uses no proxy, so a request reaches only the host that it names.
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import type { Span, Tracer } from '../../application/shared/ports.js';
import { NoTracer } from '../system/adapters.js';
import { FORBIDDEN_ADDRESS } from './engine-lookup.js';
import { jsonBody } from './json-body.js';

const LONGEST_TEXT = 8 * 1024 * 1024;
/** An idle connection stays open for a little less than most servers allow. */
const IDLE_MS = 4_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** A body that is sent unchanged, instead of `json`. */
  readonly body?: string | Uint8Array;
  /** If aborted, ends the request and closes its connection. There is no other timeout. */
  readonly signal: AbortSignal;
}

interface HttpHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

export interface HttpAnswer extends HttpHead {
  readonly text: string;
}

/** An answer with a body that still arrives. */
export interface HttpStream extends HttpHead {
  /**
   * Yields the body, and throws as `send` does. The caller must iterate it. The server has to wait while nobody takes
   * chunks. If the reader stops early, the connection is kept only if the rest of the body arrives at once.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

class HttpFailure extends Error {
  /** `status` is null if the headers of an answer did not arrive. */
  constructor(
    readonly status: number | null,
    options: ErrorOptions,
  ) {
    super('no answer', options);
  }
}

/** There is no connection to the server, or it broke. `code` is the error code of Node.js or undici. */
export class ConnectionFailed extends HttpFailure {
  readonly code: string;

  constructor(status: number | null, cause: NodeJS.ErrnoException) {
    super(status, { cause });
    this.code = cause.code ?? 'unknown cause';
  }

  /** True if the server closed the connection, false if it could not be reached. */
  get closed(): boolean {
    return CLOSED.includes(this.code);
  }
}

/** The answer is not HTTP, or is too long. `problem` continues a sentence: "it is too long.". */
export class InvalidAnswer extends HttpFailure {
  constructor(
    readonly problem: string,
    status: number | null,
    cause?: Error,
  ) {
    super(status, { cause });
  }
}

/** If the reader of a body stops early, the rest must arrive within this time. */
const LINGER_MS = 100;

/** A request on a closed connection fails within this time. If it fails later, the server may have begun the work. */
const STALE_MS = 1_000;
/** Several kept connections may be closed at once, for example when the server is started again. */
const ATTEMPTS = 3;

export class HttpClient {
  private readonly origin: string;
  private readonly basePath: string;
  private pool: Promise<Pool> | null = null;

  /** `lookup` resolves the host for each new connection, in place of the operating system. */
  constructor(
    baseUrl: string | URL,
    private readonly headers: Readonly<Record<string, string>> = {},
    private readonly tracer: Tracer = new NoTracer(),
    private readonly lookup?: LookupFunction,
  ) {
    const { origin, pathname } = new URL(baseUrl);
    this.origin = origin;
    this.basePath = pathname.replace(/\/$/, '');
  }

  /**
   * Resolves to the answer, whatever its status. Throws ConnectionFailed, InvalidAnswer, or the reason of the signal.
   * Sends the request again if a kept connection proves to be closed already.
   */
  async send(request: HttpRequest): Promise<HttpAnswer> {
    const answer = await this.stream(request);
    return { status: answer.status, headers: answer.headers, text: await textOf(answer) };
  }

  /** Sends a request as `send` does, but resolves when the body begins. */
  async stream(request: HttpRequest): Promise<HttpStream> {
    const attributes = {
      'http.request.method': request.method,
      'url.full': `${this.origin}${this.basePath}${request.path}`,
    };
    const span = this.tracer.start(request.method, { kind: 'client', attributes });
    try {
      return await span.run(() => this.answer(request, span));
    } catch (error) {
      span.end(error);
      throw error;
    }
  }

  /** Sends one request to a URL on a new connection. */
  static async once(url: string | URL, request: Omit<HttpRequest, 'path'>) {
    const { origin, pathname, search } = new URL(url);
    const client = new HttpClient(origin);
    try {
      return await client.send({ ...request, path: `${pathname}${search}` });
    } finally {
      client.close();
    }
  }

  /** Closes all connections. Requests under way fail. */
  close(): void {
    void this.pool?.then((pool) => pool.destroy());
    this.pool = null;
  }

  private async answer(request: HttpRequest, span: Span): Promise<HttpStream> {
    const { method, path, json, body = await jsonBody(json), signal } = request;
    const type = json === undefined ? {} : { 'Content-Type': 'application/json' };
    const inPieces = typeof body === 'object' && 'pieces' in body ? body : null;
    const length = inPieces && { 'Content-Length': String(inPieces.length) };
    const headers = { ...type, ...length, ...this.headers, ...request.headers, ...this.tracer.headers() };
    const opaque: Sending = { isKept: false };
    const bodyOnce = () => (inPieces ? Readable.from(inPieces.pieces) : ((body as string | Uint8Array) ?? null));
    const sent = { method, path: `${this.basePath}${path}`, headers, signal, opaque };
    this.pool ??= poolOf(this.origin, this.lookup);
    const pool = await this.pool;
    const began = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await untilAborted(signal, pool.request({ ...sent, body: bodyOnce() }));
        span.set({ 'http.response.status_code': answer.statusCode });
        return { status: answer.statusCode, headers: answer.headers, body: bodyOf(answer, signal, span) };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const failure = failureOf(error as NodeJS.ErrnoException, null);
        const isClosed = failure instanceof ConnectionFailed && failure.closed;
        const isStale = opaque.isKept && isClosed && performance.now() - began < STALE_MS;
        if (!isStale || attempt === ATTEMPTS) throw failure;
      }
    }
  }
}

/** Rejects as soon as the signal is aborted. undici itself waits until the connection is there or has failed. */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Tells whether a request is sent on a kept connection. */
interface Sending {
  isKept: boolean;
}

/** Returns a pool of connections, each of which takes one request at a time. It has no timeouts for answers. */
async function poolOf(origin: string, lookup: LookupFunction | undefined): Promise<Pool> {
  const { Client, Pool } = await import('undici'); // loaded late: it takes a while, and not every instance needs it
  class Connection extends Client {
    override dispatch(options: Dispatcher.DispatchOptions & { opaque: Sending }, handler: Dispatcher.DispatchHandler) {
      options.opaque.isKept = this.stats.connected;
      return super.dispatch(options, handler);
    }
  }
  return new Pool(origin, {
    factory: (url, options) => new Connection(url, options),
    connect: { lookup },
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

async function* bodyOf(
  { body, statusCode: status }: Dispatcher.ResponseData<Sending>,
  signal: AbortSignal,
  span: Span,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body.iterator({ destroyOnReturn: false });
  } catch (error) {
    span.end(error);
    throw signal.aborted ? signal.reason : failureOf(error as NodeJS.ErrnoException, status);
  } finally {
    span.end(status >= 400 ? String(status) : undefined);
    if (!body.readableEnded) {
      // Keeps the connection if the rest arrives soon, and otherwise closes it.
      const rest = { limit: LONGEST_TEXT, signal: AbortSignal.timeout(LINGER_MS) };
      void body.dump(rest).catch(() => null);
    }
  }
}

/** Ends an answer whose body nobody reads. Without this, its connection would never be free again. */
export function discard({ body }: HttpStream): void {
  const end = async () => {
    for await (const _ of body) return;
  };
  void end().catch(() => undefined);
}

/** Returns the body of an answer as text. Throws as `send` does. */
export async function textOf({ status, body }: HttpStream, limit = LONGEST_TEXT): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limit) throw new InvalidAnswer('it is too long.', status);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

const CLOSED = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];
const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
/** undici reports an answer with an impossible status as a failed assertion. */
const INVALID_HTTP = [LENGTH_MISMATCH, 'UND_ERR_HEADERS_OVERFLOW', 'ERR_ASSERTION'];
/** Answers with these statuses have no body, even if their headers name a length. */
const WITHOUT_BODY = [204, 304];

function failureOf(error: NodeJS.ErrnoException, status: number | null): HttpFailure {
  const problem = isTruncated(error, status) ? null : problemOf(error);
  return problem === null ? new ConnectionFailed(status, error) : new InvalidAnswer(problem, status, error);
}

/** A truncated body means a lost connection, not an invalid answer, although undici reports a parser error. */
const isTruncated = ({ code, message }: NodeJS.ErrnoException, status: number | null): boolean =>
  (code === LENGTH_MISMATCH && status !== null && status >= 200 && !WITHOUT_BODY.includes(status)) ||
  message.includes('Invalid EOF state');

/** Returns what is wrong with the answer itself, or null if the connection failed. */
function problemOf({ name, code, message }: NodeJS.ErrnoException): string | null {
  if (message === 'bad upgrade') return 'it wants to speak another protocol.';
  if (message === 'bad response') return 'it begins with a "100 Continue" that nobody asked for.';
  return name === 'HTTPParserError' || INVALID_HTTP.includes(code ?? '') ? 'it is no HTTP.' : null;
}

/** Returns the seconds of `Retry-After`, at least 1 and at most 60. Returns null if it is not a whole number. */
export const retryAfterOf = (headers: IncomingHttpHeaders): number | null => {
  const [first] = [headers['retry-after']].flat();
  return first && /^\d{1,9}$/.test(first) ? Math.min(60, Math.max(1, Number(first))) : null;
};

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the engine refuses connections',
  ENOTFOUND: 'the host of the engine is unknown',
  EAI_AGAIN: 'the host of the engine is unknown',
  [FORBIDDEN_ADDRESS]: 'the host of the engine has an address that engines must not have',
  UND_ERR_CONNECT_TIMEOUT: 'the host of the engine does not answer',
};

/** Returns why a connection failed, without any address. */
export function causeOf({ status, closed, code }: ConnectionFailed): string {
  if (status !== null) return 'the engine broke off its answer';
  if (closed) return 'the engine closed the connection';
  return CAUSES[code] ?? `the engine can't be reached (${code})`;
}
