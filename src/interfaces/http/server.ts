import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestHandler, Response } from 'express';
import { injectable } from 'inversify';
import { DomainError } from '../../domain/shared/errors.js';
import { refuse } from './middleware/error-handler.js';
import { HttpRefusal, problemOf, type RefusalCode } from './refusals.js';

/** Headers arrive within 15 s. The middleware `slowClients` limits the time for bodies and answers. */
const OPTIONS = {
  headersTimeout: 15_000,
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false, // the middleware `hostCheck` requires it, and refuses with the envelope
};

/** Makes the server of the app. Requests that are not proper HTTP get the envelope too. */
export function createHttpServer(app: RequestListener, nextRequestId: () => string, options = {}): Server {
  const listener: RequestListener = (request, response) => {
    request.url = pathOf(request.url ?? '');
    app(request, response);
  };
  const server = createServer({ ...OPTIONS, ...options }, listener);
  // Node answers 100 Continue at once unless somebody listens. `readBody` answers it when the body is wanted.
  server.on('checkContinue', listener).on('checkExpectation', listener);
  server.on('clientError', (error: ClientError, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const request = { requestId: nextRequestId(), path: pathIn(error.rawPacket) };
    refuseSocket(socket, codes[error.code ?? ''] ?? 'bad_request', request);
  });
  return server;
}

interface ClientError extends NodeJS.ErrnoException {
  /** The bytes that were not understood. */
  readonly rawPacket?: Buffer;
}

/** Returns the path of the request line, if the bytes begin with one. */
function pathIn(bytes: Buffer | undefined): string {
  const [, target = ''] = /^[A-Z]+ (\S+)/.exec(bytes?.toString('latin1', 0, 4_096) ?? '') ?? [];
  return pathOf(target);
}

/** Drops scheme and host of a target that is a whole URL: Express cannot route one whose host is not valid. */
const pathOf = (target: string): string => {
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
};

/** Resolves to the port. Rejects with one line that says why it cannot listen. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is taken' : error.message;
      reject(new Error(`cannot listen on ${host}:${port} (SERVICE_HOST, SERVICE_PORT): ${why}`));
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

const codes: Record<string, RefusalCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** A caller that was refused has this time to close its side. Node would keep a half-closed connection for ever. */
const CLOSE_MS = 2_000;

function refuseSocket(socket: Duplex, code: RefusalCode, request: { requestId: string; path: string }): void {
  const { status, body } = problemOf(new HttpRefusal(code), request);
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${request.requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  const late = setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  socket.once('close', () => clearTimeout(late));
}

class ShuttingDown extends DomainError {
  constructor() {
    super('unavailable', 'shutting_down', 'The service is ending: try again shortly.', { retryAfterSeconds: 1 });
  }
}

/** Connections are closed once nothing is in flight and no request has come for so long. */
const QUIET_MS = 300;

/** The share of the drain's time in which senders must complete their requests. */
const ARRIVAL_SHARE = 0.5;

/**
 * Ends HTTP without failing a call. `announce` only says that the service is not ready any more; from `begin` on, calls
 * that are in flight finish and new ones get 503.
 */
@injectable()
export class GracefulShutdown {
  private ready = true;
  private closesConnections = false;
  private ending = false;
  private readonly inFlight = new Set<Response>();
  private requestCount = 0;

  /** Makes `check` throw, so that a proxy sends no more calls. */
  notReady(): void {
    this.ready = false;
  }

  /** Also makes each answer from now on the last of its connection, so that callers connect to another instance. */
  announce(): void {
    this.notReady();
    this.closesConnections = true;
    for (const response of this.inFlight) response.shouldKeepAlive = false;
  }

  begin(): void {
    this.ending = true;
    this.announce();
  }

  /** Throws ShuttingDown once `notReady` or `announce` was called. */
  check(): void {
    if (!this.ready) throw new ShuttingDown();
  }

  /** Comes before every step that takes time, so that a call which arrived before the shutdown is served. */
  readonly track: RequestHandler = (request, response, next) => {
    this.requestCount++;
    this.inFlight.add(response);
    if (this.closesConnections) response.shouldKeepAlive = false;
    request.context.tooLate = this.ending;
    response.once('close', () => this.inFlight.delete(response));
    next();
  };

  readonly refuseLate: RequestHandler = (request, _response, next) => {
    if (request.context.tooLate) throw new ShuttingDown();
    next();
  };

  get requestsInFlight(): number {
    return this.inFlight.size;
  }

  /** Stops accepting. Resolves when every connection is closed; after `graceMs` it closes those that are left. */
  async drain(server: Server, graceMs: number): Promise<void> {
    // `http.Server.close` would reset idle connections whose next request is on its way. They get 503 instead.
    const drained = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    this.begin();
    let seen = this.requestCount;
    const closeIfQuiet = async () => {
      await nextTurn(); // reads the requests that arrived meanwhile
      if (this.inFlight.size === 0 && this.requestCount === seen) server.closeAllConnections();
      seen = this.requestCount;
    };
    const quiet = setInterval(closeIfQuiet, QUIET_MS);
    const unsent = setTimeout(() => this.refuseUnsent(), graceMs * ARRIVAL_SHARE);
    const enough = setTimeout(() => server.closeAllConnections(), graceMs);
    await drained;
    for (const timer of [quiet, unsent, enough]) clearTimeout(timer);
    server.close(() => undefined); // ends Node's own checks of connections
  }

  private refuseUnsent(): void {
    for (const response of this.inFlight) if (!response.req.complete) refuse(response, new ShuttingDown());
  }
}
