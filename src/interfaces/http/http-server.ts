import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Envelope } from './problem.js';
import { type RefusalCode, refusals } from './refusals.js';

/** Slow clients are cut off: headers within 15 s, the whole request within 60 s. */
const TIMEOUTS = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false, // asked for where the refusal gets the envelope
};

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
    this.server.on('request', (_request, response) => {
      this.inFlight++;
      response.once('close', () => {
        if (--this.inFlight === 0) this.whenIdle?.();
      });
    });
    // An expectation that nobody knows is not worth a refusal without the envelope.
    this.server.on('checkExpectation', (request, response) => this.server.emit('request', request, response));
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.refuse(error, socket));
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

  /** What is not proper HTTP never becomes a request, and still gets the envelope. */
  private refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = this.nextRequestId();
    const code = clientErrorCodes[error.code ?? ''] ?? 'bad_request';
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
