import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Exchange, internalError } from './exchange.js';
import { Refusal } from './refusal.js';
import type { Router } from './router.js';

/** Slow clients are cut off. */
const TIMEOUTS = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false, // it is refused below, in the envelope
};
const MOST_CONNECTIONS = 512;
/** A page may have its own name lead here: browsers then let it read the answers. */
const OWN_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

export interface ServerWatch {
  answered(route: string, status: number): void;
  /** A defect: nothing of what was asked is in what is told. */
  failed(requestId: string, error: unknown): void;
}

/** HTTP on this machine alone; ends without failing what is in flight. */
export class ServingServer {
  private readonly server: Server;
  private inFlight = 0;
  private draining = false;
  private whenIdle: () => void = () => undefined;

  constructor(
    private readonly router: Router,
    private readonly watch: ServerWatch,
    private readonly nextRequestId: () => string,
  ) {
    this.server = createServer(TIMEOUTS, (request, response) => void this.take(request, response));
    this.server.maxConnections = MOST_CONNECTIONS;
    this.server.on('checkExpectation', (request, response) => this.server.emit('request', request, response));
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.refuse(error, socket));
  }

  /** Resolves to the port, which the system chooses. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, '127.0.0.1', () => resolve((this.server.address() as AddressInfo).port));
    });
  }

  /** Takes nothing new; resolves when nothing is in flight any more. */
  async drain(): Promise<void> {
    this.draining = true;
    this.server.close(() => undefined);
    this.server.closeIdleConnections();
    if (this.inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.whenIdle = resolve;
    });
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { route, handle } = this.router.match(request.method ?? '', request.url ?? '');
    this.inFlight++;
    response.once('close', () => {
      this.inFlight--;
      this.watch.answered(route, response.statusCode);
      if (this.inFlight === 0) this.whenIdle();
    });
    const given = request.headers['x-request-id'];
    const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : this.nextRequestId();
    const exchange = new Exchange(request, response, id);
    try {
      if (this.draining) throw new Refusal('shutting_down', 'The model is being stopped.', { Connection: 'close' });
      if (!OWN_HOST.test(request.headers.host ?? ''))
        throw new Refusal('bad_request', 'The Host must be 127.0.0.1, localhost or [::1].');
      await handle(exchange);
    } catch (error) {
      if (!(error instanceof Refusal)) this.watch.failed(id, error);
      exchange.refuse(error instanceof Refusal ? error : internalError());
    }
  }

  /** What is not proper HTTP never becomes a request, and still gets the envelope. */
  private refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = clientErrors[error.code ?? ''] ?? new Refusal('bad_request', 'The request is not proper HTTP.');
    const id = this.nextRequestId();
    const body = refusal.envelope(id);
    const head = [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${id}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  }
}

const clientErrors: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: new Refusal('headers_too_large', 'The request headers are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal('request_timeout', 'The request took too long to arrive.'),
};
