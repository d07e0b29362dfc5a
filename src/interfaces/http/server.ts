import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestHandler, Response } from 'express';
import { injectable } from 'inversify';
import type { Logger } from '../../application/shared/ports.js';
import { DomainError } from '../../domain/shared/errors.js';
import { refuse } from './middleware/error-handler.js';
import { sourceOf } from './middleware/rate-limit.js';
import { HttpRefusal, problemOf, type RefusalCode } from './refusals.js';

/** Limits the time for headers only. The middleware `slowClients` limits the time for bodies and answers. */
const OPTIONS = {
  headersTimeout: 15_000,
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false, // the middleware `hostCheck` requires the header, and refuses with the error envelope
};

interface ServerOptions {
  readonly nextRequestId: () => string;
  /** The connections at the same time. Node.js closes further ones at once, without reading from them. */
  readonly maxConnections: number;
  /** Returns true for the address of a trusted proxy, which may have all the connections. */
  readonly isProxy: (address: string) => boolean;
  readonly logger: Logger;
  /** Options of Node's server, such as time-outs. */
  readonly node?: object;
}

/** Creates the HTTP server of the app. Answers requests that are not valid HTTP with the error envelope. */
export function createHttpServer(app: RequestListener, options: ServerOptions): Server {
  const { nextRequestId, maxConnections, isProxy, logger, node } = options;
  const listener: RequestListener = (request, response) => {
    request.url = pathOf(request.url ?? '');
    app(request, response);
  };
  const server = createServer({ ...OPTIONS, ...node }, listener);
  server.maxConnections = maxConnections;
  server.on('drop', logDropped(maxConnections, logger));
  server.on('connection', limitAddresses(Math.floor(maxConnections / ADDRESSES), isProxy, logger));
  // Without this listener, Node.js would send `100 Continue` at once. `readBody` sends it before it reads the body.
  server.on('checkContinue', listener).on('checkExpectation', listener);
  server.on('clientError', (error: ClientError, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const request = { requestId: nextRequestId(), path: pathIn(error.rawPacket) };
    refuseSocket(socket, codes[error.code ?? ''] ?? 'bad_request', request);
  });
  return server;
}

/** It takes at least so many addresses to use all connections. */
const ADDRESSES = 4;

/** Returns a listener that closes the connections of an address, or of a /64 network, over the limit. */
function limitAddresses(limit: number, isProxy: ServerOptions['isProxy'], logger: Logger): (socket: Socket) => void {
  const open = new Map<string, number>();
  const drop = logDropped(limit, logger);
  return (socket) => {
    const source = sourceOf(socket.remoteAddress ?? '');
    if (source === null || isProxy(String(socket.remoteAddress))) return;
    const count = open.get(source) ?? 0;
    if (count >= limit) {
      socket.destroy();
      drop();
      return;
    }
    open.set(source, count + 1);
    socket.once('close', () => {
      const left = (open.get(source) ?? 0) - 1;
      if (left > 0) open.set(source, left);
      else open.delete(source);
    });
  };
}

const LOGGED_EVERY_MS = 60_000;

/** Returns a listener that logs at once, and then at most every minute, how many connections were over the limit. */
function logDropped(limit: number, logger: Logger): () => void {
  let dropped = 0;
  let pause: NodeJS.Timeout | null = null;
  const report = () => {
    pause = null;
    if (dropped === 0) return;
    logger.warn('connections over the limit were closed', { dropped, limit, setting: 'SERVICE_MAX_CONNECTIONS' });
    dropped = 0;
    pause = setTimeout(report, LOGGED_EVERY_MS).unref();
  };
  return () => {
    dropped++;
    if (!pause) report();
  };
}

interface ClientError extends NodeJS.ErrnoException {
  /** Holds the bytes that Node.js could not parse. */
  readonly rawPacket?: Buffer;
}

/** Returns the path of the request line at the beginning of the bytes, or `/` if there is no request line. */
function pathIn(bytes: Buffer | undefined): string {
  const [, target = ''] = /^[A-Z]+ (\S+)/.exec(bytes?.toString('latin1', 0, 4_096) ?? '') ?? [];
  return pathOf(target);
}

/** Removes scheme and host from a target that is a whole URL. Express cannot route a URL with an invalid host. */
const pathOf = (target: string): string => {
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
};

/** Starts to listen, and resolves to the port. Rejects with one line that says why the server cannot listen. */
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

/** Limits the time for a refused caller to close the connection. Node.js would keep a half-closed one for ever. */
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

/** During the drain, connections are closed when no request is in flight and none has come for this time. */
const QUIET_MS = 300;

/** After this share of the drain's time, requests that have not arrived completely are refused. */
const ARRIVAL_SHARE = 0.5;

/** Stops the HTTP server without failing a call. `begin` includes `announce`, and `announce` includes `notReady`. */
@injectable()
export class GracefulShutdown {
  private ready = true;
  private closesConnections = false;
  private ending = false;
  private readonly inFlight = new Set<Response>();
  private requestCount = 0;

  /** Makes `check` throw. `/health/ready` then tells proxies to send no more calls. */
  notReady(): void {
    this.ready = false;
  }

  /** Also closes each connection after its next answer, so that callers connect to another instance. */
  announce(): void {
    this.notReady();
    this.closesConnections = true;
    for (const response of this.inFlight) response.shouldKeepAlive = false;
  }

  /** Also refuses new calls of the API with 503. Calls in flight finish. */
  begin(): void {
    this.ending = true;
    this.announce();
  }

  /** Throws ShuttingDown after `notReady`, `announce` or `begin`. */
  check(): void {
    if (!this.ready) throw new ShuttingDown();
  }

  /** Counts requests in flight, and marks those that come after `begin`. Must run before every step that takes time. */
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

  /** Accepts no more connections. Resolves when all are closed. Closes the remaining ones after `graceMs`. */
  async drain(server: Server, graceMs: number): Promise<void> {
    // `http.Server.close` would close idle connections at once and lose requests on their way. These get 503 instead.
    const drained = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    this.begin();
    let lastCount = this.requestCount;
    const closeIfQuiet = async () => {
      await nextTurn(); // Node.js reads the requests that have arrived meanwhile
      if (this.inFlight.size === 0 && this.requestCount === lastCount) server.closeAllConnections();
      lastCount = this.requestCount;
    };
    const quietTimer = setInterval(closeIfQuiet, QUIET_MS);
    const arrivalTimer = setTimeout(() => this.refuseUnsent(), graceMs * ARRIVAL_SHARE);
    const graceTimer = setTimeout(() => server.closeAllConnections(), graceMs);
    await drained;
    for (const timer of [quietTimer, arrivalTimer, graceTimer]) clearTimeout(timer);
    server.close(() => undefined); // ends the timer with which Node.js checks connections
  }

  private refuseUnsent(): void {
    for (const response of this.inFlight) if (!response.req.complete) refuse(response, new ShuttingDown());
  }
}
