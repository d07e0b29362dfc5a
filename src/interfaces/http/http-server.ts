import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { limitArrival } from './arrival.js';
import type { Envelope } from './problem.js';
import { type RefusalCode, refusals } from './refusals.js';

/** Slow clients are cut off: headers within 15 s. How long a body may take is `limitArrival`. */
const TIMEOUTS = {
  headersTimeout: 15_000,
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false, // asked for where the refusal gets the envelope
};

/** For the refusal of a slow request to be read. */
const FAREWELL_MS = 5_000;

/** Listens, and ends without failing what is in flight. */
export class HttpServer {
  private readonly server: Server;
  private inFlight = 0;
  private whenIdle: (() => void) | null = null;

  constructor(
    listener: RequestListener,
    private readonly nextRequestId: () => string,
  ) {
    this.server = createServer(TIMEOUTS, listener);
    this.server.on('request', (request, response) => {
      limitArrival(request, () => this.cutOff(request, response));
      this.inFlight++;
      response.once('close', () => {
        if (--this.inFlight === 0) this.whenIdle?.();
      });
    });
    // An expectation that nobody knows is not worth a refusal without the envelope.
    this.server.on('checkExpectation', (request, response) => this.server.emit('request', request, response));
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (error.code === 'ECONNRESET') socket.destroy();
      else this.refuse(clientErrorCodes[error.code ?? ''] ?? 'bad_request', socket);
    });
  }

  /** Resolves to the port; rejects with one line that says why it cannot listen. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException) => {
        const why = error.code === 'EADDRINUSE' ? 'the port is taken' : error.message;
        reject(new Error(`cannot listen on ${host}:${port} (SERVICE_HOST, SERVICE_PORT): ${why}`));
      };
      this.server.once('error', fail);
      this.server.listen(port, host, () => {
        this.server.off('error', fail);
        resolve((this.server.address() as AddressInfo).port);
      });
    });
  }

  /** Stops accepting; resolves when nothing is in flight any more, or after `graceMs`, with every connection closed. */
  async drain(graceMs: number): Promise<void> {
    // Not `http.Server.close`, which would reset idle connections that may be about to send: they get a 503 meanwhile.
    NetServer.prototype.close.call(this.server);
    if (this.inFlight > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.whenIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.server.close(() => undefined);
    this.server.closeAllConnections();
  }

  private cutOff({ socket }: IncomingMessage, { headersSent }: ServerResponse): void {
    if (headersSent) {
      socket.destroy();
      return;
    }
    this.refuse('request_timeout', socket);
    setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
  }

  /** What is not proper HTTP never becomes a request, and still gets the envelope. */
  private refuse(code: RefusalCode, socket: Duplex): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = this.nextRequestId();
    const { status, when } = refusals[code];
    const envelope: Envelope = { status: 'error', code, error: when, request_id: requestId };
    const body = JSON.stringify(envelope);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  }
}

const clientErrorCodes: Record<string, RefusalCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};
