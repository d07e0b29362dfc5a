import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { v7 as uuid } from 'uuid';
import { RequestError } from './request-error.js';

/** Limits that end the connections of slow clients. */
const TIMEOUTS = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false, // a missing Host is refused below, in the error envelope
};
const MAX_CONNECTIONS = 512;
/** The longest pause of a caller that reads the answer. Also the time to finish a body that was refused. */
const IDLE_MS = 10_000;
/** An answer below this size is copied into one piece, and sent without a timeout. */
const SMALL_BODY = 16 * 1_024;
/** The allowed hosts. A web page could let another host name lead to 127.0.0.1 and read the answers (DNS rebinding). */
const OWN_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

const JSON_TYPE = 'application/json; charset=utf-8';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly parts: readonly Uint8Array[];
  readonly headers?: Readonly<Record<string, string | number>>;
}

export const jsonAnswer = (body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: 200,
  type: JSON_TYPE,
  parts: [Buffer.from(JSON.stringify(body))],
  headers,
});

/** Throws a RequestError. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Answer | Promise<Answer>;

export interface RouteMatch {
  /** The pattern of the route, as a label for metrics. Unknown paths share one label. */
  readonly route: string;
  readonly handle: Handler;
}

export type Router = (method: string, url: string) => RouteMatch;

export interface HttpListener {
  answered(route: string, status: number): void;
  /** Called for an error that is a defect. */
  failed(requestId: string, error: unknown): void;
}

/** Serves HTTP on 127.0.0.1. `drain` lets requests in flight finish. */
export class HttpServer {
  private readonly server: Server;
  private inFlight = 0;
  private draining = false;
  private onIdle: () => void = () => undefined;

  constructor(
    private readonly router: Router,
    private readonly listener: HttpListener,
  ) {
    this.server = createServer(TIMEOUTS, (request, response) => void this.serve(request, response));
    this.server.maxConnections = MAX_CONNECTIONS;
    // Without this handler, Node.js would answer an unknown Expect header with 417.
    this.server.on('checkExpectation', (request, response) => this.server.emit('request', request, response));
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.refuseInvalidHttp(error, socket));
  }

  /** Starts to listen on a port that the system chooses. Resolves to the port. */
  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Accepts no more requests. Resolves when none is in flight. */
  async drain(): Promise<void> {
    this.draining = true;
    this.server.close(() => undefined);
    this.server.closeIdleConnections();
    if (this.inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.onIdle = resolve;
    });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { route, handle } = this.router(request.method ?? '', request.url ?? '');
    this.inFlight++;
    response.once('close', () => {
      this.inFlight--;
      this.listener.answered(route, response.statusCode);
      if (this.inFlight === 0) this.onIdle();
    });
    const requested = request.headers['x-request-id'];
    const id = typeof requested === 'string' && REQUEST_ID.test(requested) ? requested : newRequestId();
    response.setHeader('X-Request-Id', id);
    try {
      if (this.draining)
        throw new RequestError('shutting_down', 'The model is being stopped.', { Connection: 'close' });
      if (!OWN_HOST.test(request.headers.host ?? ''))
        throw new RequestError('bad_request', 'The Host must be 127.0.0.1, localhost or [::1].');
      send(response, await handle(request, response));
    } catch (error) {
      if (!(error instanceof RequestError)) this.listener.failed(id, error);
      const refusal = error instanceof RequestError ? error : internalError();
      const { status, headers } = refusal;
      const answer = { status, headers, type: JSON_TYPE, parts: [Buffer.from(refusal.envelope(id))] };
      if (request.complete) send(response, answer);
      else refuseEarly(request, response, answer);
    }
  }

  /** Answers invalid HTTP in the error envelope. Node.js has no request object for it. */
  private refuseInvalidHttp(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal =
      clientErrors[error.code ?? ''] ?? new RequestError('bad_request', 'The request is not proper HTTP.');
    const id = newRequestId();
    const body = refusal.envelope(id);
    const head = [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      `Content-Type: ${JSON_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${id}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    // Without the timer, Node would keep the connection for ever if the caller does not close its side.
    const late = setTimeout(() => socket.destroy(), IDLE_MS).unref();
    socket.once('close', () => clearTimeout(late));
  }
}

function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  const length = writeHead(response, answer);
  if (length < SMALL_BODY) {
    response.end(Buffer.concat(answer.parts));
    return;
  }
  response.setTimeout(IDLE_MS, () => response.destroy());
  for (const part of answer.parts) response.write(part);
  response.end();
}

/** Writes the head of the answer. Returns the length of its body. */
function writeHead(response: ServerResponse, { status, type, parts, headers }: Answer): number {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': length });
  return length;
}

/**
 * Sends the whole answer, but ends the response only after the caller has sent the rest of the body, or has closed the
 * connection. Closing the connection earlier would reset it, and the reset can destroy the answer on its way.
 */
function refuseEarly(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  writeHead(response, answer);
  for (const part of answer.parts) response.write(part);
  const timer = setTimeout(() => request.destroy(), IDLE_MS);
  request.once('end', () => response.end()).once('close', () => clearTimeout(timer));
  request.resume();
}

const newRequestId = (): string => `req_${uuid()}`;

const clientErrors: Readonly<Record<string, RequestError>> = {
  HPE_HEADER_OVERFLOW: new RequestError('headers_too_large', 'The request headers are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new RequestError('request_timeout', 'The request took too long to arrive.'),
};

const internalError = (): RequestError =>
  new RequestError('internal_error', 'Something went wrong on our side; the log has it under this request_id.');
