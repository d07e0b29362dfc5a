import { once } from 'node:events';
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
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { limitArrival } from './arrival.js';
import { limitDeparture } from './departure.js';
import { lingerAfter } from './linger.js';
import type { Envelope } from './problem.js';
import { type RefusalCode, refusals } from './refusals.js';
import { watchSenders } from './silent-senders.js';

/** Slow clients are cut off: headers within 15 s. For bodies there is `limitArrival`, for answers `limitDeparture`. */
const TIMEOUTS = {
  headersTimeout: 15_000,
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false, // asked for where the refusal gets the envelope
};

/** For the refusal of a slow request to be read. */
const FAREWELL_MS = 5_000;
const LAST_FAREWELL_MS = 500;

/** Of the time that what is in flight has in the end, a sender may be silent for so much in the middle of a request. */
const SILENCE_SHARE = 0.25;

/** Idle connections of an ending service are closed once none of them has brought a request for so long. */
const QUIET_MS = 300;

/** Listens, and ends without failing what is in flight. */
export class HttpServer {
  private readonly server: Server;
  private readonly inFlight = new Set<ServerResponse>();
  private connections = 0;
  private requests = 0;
  private ending = false;
  private whenIdle: () => void = () => undefined;

  constructor(
    listener: RequestListener,
    private readonly nextRequestId: () => string,
    timeouts: Partial<typeof TIMEOUTS> = {},
  ) {
    this.server = createServer({ ...TIMEOUTS, ...timeouts }, listener);
    this.server.on('connection', (socket) => {
      this.connections++;
      socket.once('close', () => this.connections--);
    });
    // Before the listener, which may answer at once.
    this.server.prependListener('request', (request, response) => this.take(request, response));
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

  /** From now on each answer is the last of its connection, so that its caller goes elsewhere for the next. */
  sendAway(): void {
    this.ending = true;
    for (const response of this.inFlight) response.shouldKeepAlive = false;
  }

  /** Stops accepting; resolves when nothing is in flight any more, or after `graceMs`, with every connection closed. */
  async drain(graceMs: number): Promise<void> {
    // Not `http.Server.close`, which would reset idle connections that may be about to send: they get a 503 meanwhile.
    NetServer.prototype.close.call(this.server);
    this.sendAway(); // after that: who is sent away knocks again at once
    const enough = new AbortController();
    const timer = setTimeout(() => enough.abort(), graceMs);
    const watched = watchSenders(this.inFlight, graceMs * SILENCE_SHARE, (request) => {
      this.dismiss(request.socket, 'shutting_down', LAST_FAREWELL_MS);
    });
    await Promise.race([this.settled(enough.signal), once(enough.signal, 'abort')]);
    clearTimeout(timer);
    watched();
    enough.abort();
    this.server.close(() => undefined);
    this.server.closeAllConnections();
  }

  /** Resolves when nothing is in flight, and whoever is still connected has been silent for a while. */
  private async settled(enough: AbortSignal): Promise<void> {
    for (let seen = -1; !enough.aborted; ) {
      if (this.inFlight.size > 0) await this.idle();
      if (this.connections === 0 || seen === this.requests) return;
      seen = this.requests;
      await pause(QUIET_MS);
      await nextTurn(); // reads what arrived while this process was busy
    }
  }

  private idle(): Promise<void> {
    return new Promise((resolve) => {
      this.whenIdle = resolve;
    });
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    limitArrival(request, () => this.cutOff(request, response));
    limitDeparture(response);
    lingerAfter(request, response);
    this.requests++;
    this.inFlight.add(response);
    if (this.ending) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.inFlight.delete(response);
      if (this.inFlight.size === 0) this.whenIdle();
    });
  }

  private cutOff({ socket }: IncomingMessage, { headersSent }: ServerResponse): void {
    if (headersSent) {
      socket.destroy();
      return;
    }
    this.dismiss(socket, 'request_timeout', FAREWELL_MS);
  }

  private dismiss(socket: Duplex, code: RefusalCode, farewellMs: number): void {
    this.refuse(code, socket);
    setTimeout(() => socket.destroy(), farewellMs).unref();
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
