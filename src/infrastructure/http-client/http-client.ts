/**
 * A small HTTP client for adapters that call other servers. It keeps connections open between requests. It follows no
 * redirects and uses no proxy, so a request reaches only the host that it names.
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { Client, Dispatcher } from 'undici';
import type { Span, Tracer } from '../../application/shared/ports.js';
import { NoTracer } from '../system/adapters.js';

const LONGEST_TEXT = 8 * 1024 * 1024;
/** An idle connection stays open for a little less than most servers allow. */
const IDLE_MS = 4_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** Is sent unchanged, instead of `json`. */
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

export class HttpClient {
  private readonly origin: string;
  private readonly basePath: string;
  /** Each client is one connection, which may be closed at the moment. It takes one request at a time. */
  private readonly connections = new Set<Client>();
  /** The most recently used connection is the last, and is used first. */
  private readonly idle: Client[] = [];

  constructor(
    baseUrl: string | URL,
    private readonly headers: Readonly<Record<string, string>> = {},
    private readonly tracer: Tracer = new NoTracer(),
  ) {
    const { origin, pathname } = new URL(baseUrl);
    this.origin = origin;
    this.basePath = pathname.replace(/\/$/, '');
  }

  /**
   * Resolves to the answer, whatever its status. Throws ConnectionFailed, InvalidAnswer, or the reason of the signal.
   * Sends the request once more, on a new connection, if a kept connection proves to be closed already.
   */
  async send(request: HttpRequest): Promise<HttpAnswer> {
    const answer = await this.stream(request);
    return { status: answer.status, headers: answer.headers, text: await textOf(answer) };
  }

  /** Does what `send` does, but resolves when the body begins. */
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

  private async answer(request: HttpRequest, span: Span): Promise<HttpStream> {
    const began = performance.now();
    const kept = this.idle.pop();
    const reused = kept?.stats.connected ?? false;
    try {
      return await this.attempt(request, kept ?? (await this.open()), span);
    } catch (error) {
      const closed = error instanceof ConnectionFailed && error.closed && error.status === null;
      const stale = reused && closed && performance.now() - began < STALE_MS;
      if (!stale || request.signal.aborted) throw error;
      return this.attempt(request, await this.open(), span);
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
    for (const connection of this.connections) this.drop(connection);
    this.idle.length = 0;
  }

  private async open(): Promise<Client> {
    const { Client } = await import('undici'); // loaded late: it takes a while, and not every instance needs it
    const connection = new Client(this.origin, {
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.connections.add(connection);
    return connection;
  }

  private async attempt(request: HttpRequest, connection: Client, span: Span): Promise<HttpStream> {
    const { method, path, json, body = JSON.stringify(json), signal } = request;
    const type = json === undefined ? {} : { 'Content-Type': 'application/json' };
    const headers = { ...type, ...this.headers, ...request.headers, ...this.tracer.headers() };
    try {
      const sent = { method, path: `${this.basePath}${path}`, headers, body: body ?? null, signal };
      const answer = await connection.request(sent);
      span.set({ 'http.response.status_code': answer.statusCode });
      const chunks = this.bodyOf(answer, connection, request, span);
      return { status: answer.statusCode, headers: answer.headers, body: chunks };
    } catch (error) {
      throw this.failed(connection, request, error, null);
    }
  }

  private async *bodyOf(
    { body, statusCode: status }: Dispatcher.ResponseData,
    connection: Client,
    request: HttpRequest,
    span: Span,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* body.iterator({ destroyOnReturn: false });
    } catch (error) {
      span.end(error);
      throw this.failed(connection, request, error, status);
    } finally {
      span.end(status >= 400 ? String(status) : undefined);
      void this.release(connection, body);
    }
  }

  /** Keeps the connection if the answer was read to its end, or if its rest arrives soon. */
  private async release(connection: Client, body: Dispatcher.ResponseData['body']): Promise<void> {
    if (!body.readableEnded) {
      const rest = { limit: LONGEST_TEXT, signal: AbortSignal.timeout(LINGER_MS) };
      await body.dump(rest).catch(() => null);
    }
    if (body.readableEnded) this.idle.push(connection);
    else this.drop(connection);
  }

  private failed(connection: Client, { signal }: HttpRequest, error: unknown, status: number | null): unknown {
    this.drop(connection);
    return signal.aborted ? signal.reason : failureOf(error as NodeJS.ErrnoException, status);
  }

  private drop(connection: Client): void {
    this.connections.delete(connection);
    void connection.destroy();
  }
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
  UND_ERR_CONNECT_TIMEOUT: 'the host of the engine does not answer',
};

/** Returns why a connection failed, without any address. */
export function causeOf({ status, closed, code }: ConnectionFailed): string {
  if (status !== null) return 'the engine broke off its answer';
  if (closed) return 'the engine closed the connection';
  return CAUSES[code] ?? `the engine can't be reached (${code})`;
}
