import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { problemOf } from './problem.js';
import { HttpRefusal, type RefusalCode } from './refusals.js';

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
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuse(socket, codes[error.code ?? ''] ?? 'bad_request', nextRequestId());
  });
  return server;
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

function refuse(socket: Duplex, code: RefusalCode, requestId: string): void {
  const { status, body } = problemOf(new HttpRefusal(code), requestId);
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}
