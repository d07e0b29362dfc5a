import { Transform } from 'node:stream';
import type { Request, RequestHandler, Response } from 'express';
import type { ByteStream } from '../../../application/shared/ports.js';
import { isBodyless } from '../body.js';
import { HttpRefusal } from '../refusals.js';
import { refuse } from './error-handler.js';

/** Limits the time in which a body must arrive, unless `flowing` reads it. */
const BODY_MS = 60_000;

/** In each period of this length, `flowing` must get at least `FLOW_BYTES`. */
const FLOW_MS = 15_000;
const FLOW_BYTES = 64 * 1024;

/** Limits a caller that reads an answer slowly. */
interface ReadLimits {
  /** The longest time in which the caller reads nothing. */
  readonly stallMs: number;
  /** The time for the whole answer. `bytesPerSecond` adds time for its length. */
  readonly wholeMs: number;
  readonly bytesPerSecond: number;
}

const READ_LIMITS: ReadLimits = { stallMs: 30_000, wholeMs: 60_000, bytesPerSecond: 16 * 1024 };

/** Holds the requests that `flowing` reads. `BODY_MS` does not limit them. */
const flowingRequests = new WeakSet<Request>();

/** Refuses requests with bodies that arrive too slowly. Closes connections that read their answers too slowly. */
export const slowClients =
  (readLimits = READ_LIMITS): RequestHandler =>
  (request, response, next) => {
    limitArrival(request, () => {
      if (response.headersSent) request.socket.destroy();
      else refuse(response, new HttpRefusal('request_timeout', undefined, { Connection: 'close' }));
    });
    limitDeparture(response, readLimits);
    next();
  };

/** Calls `late` if the body has not arrived within `BODY_MS`, also if nobody reads the body of a refused request. */
export function limitArrival(request: Request, late: () => void): void {
  if (isBodyless(request)) return;
  const timer = setTimeout(() => {
    if (flowingRequests.has(request)) timer.refresh();
    else if (!request.complete) late();
  }, BODY_MS).unref();
  const arrived = () => clearTimeout(timer);
  request.once('end', arrived).once('close', arrived);
}

/** Starts the limits when the service has written the whole answer. The time before depends on the service. */
function limitDeparture(response: Response, { stallMs, wholeMs, bytesPerSecond }: ReadLimits): void {
  response.once('prefinish', () => {
    const { socket } = response;
    if (!socket || socket.writableLength === 0) return;
    // Without a listener for the timeout, Node.js destroys the connection. It resets the timeout for the next request.
    socket.setTimeout(stallMs);
    const timer = setTimeout(
      () => socket.destroy(),
      wholeMs + (socket.writableLength / bytesPerSecond) * 1_000,
    ).unref();
    response.once('close', () => clearTimeout(timer));
  });
}

/**
 * Yields a body of any length, as fast as the reader takes it. Throws request_timeout if the sender is too slow, and
 * bad_request if the connection breaks.
 */
export async function* flowing(request: Request): AsyncGenerator<Uint8Array> {
  let arrived = 0;
  const pieces = new Transform({
    transform(piece: Buffer, _encoding, done) {
      arrived += piece.length;
      if (arrived >= FLOW_BYTES) {
        arrived = 0;
        timer.refresh();
      }
      done(null, piece);
    },
  });
  const timer = setTimeout(() => {
    // While pieces wait for the reader, the sender is not late.
    if (pieces.readableLength > 0) timer.refresh();
    else pieces.destroy(new HttpRefusal('request_timeout', `The body stalled for ${FLOW_MS / 1000} s.`));
  }, FLOW_MS);
  const cutOff = () => {
    if (!request.readableEnded) pieces.destroy(new HttpRefusal('bad_request', 'The body was cut off.'));
  };
  flowingRequests.add(request);
  try {
    if (request.destroyed) cutOff();
    else request.once('close', cutOff).pipe(pieces);
    yield* pieces;
  } finally {
    clearTimeout(timer);
    request.off('close', cutOff);
    pieces.destroy();
    flowingRequests.delete(request);
  }
}

/** Throws request_timeout if the reader has to wait longer than this for the next piece of the body. */
export function unlessStalled({ length, chunks }: ByteStream, stallMs: number): ByteStream {
  const stalled = () => new HttpRefusal('request_timeout', `The body stalled for ${stallMs / 1000} s.`);
  const next = (pieces: AsyncIterator<Uint8Array>) =>
    new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      const timer = setTimeout(() => reject(stalled()), stallMs);
      pieces
        .next()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  async function* arriving() {
    const pieces = chunks[Symbol.asyncIterator]();
    try {
      for (let piece = await next(pieces); !piece.done; piece = await next(pieces)) yield piece.value;
    } finally {
      void pieces.return?.().catch(() => undefined);
    }
  }
  return { length, chunks: arriving() };
}

interface LingerLimits {
  readonly maxMs: number;
  readonly maxBytes: number;
}

/** Limits for how long, and for how many bytes, the rest of a request is read before its connection is closed. */
const LINGER_LIMITS: LingerLimits = { maxMs: 2_000, maxBytes: 16 * 1024 * 1024 };
const CHECK_MS = 50;

/**
 * Reads and drops the rest of a request that was answered before it arrived completely. Closing a connection that has
 * unread bytes would reset it, and the reset can destroy the answer on its way.
 */
export const lingeringClose =
  (limits = LINGER_LIMITS): RequestHandler =>
  (request, response, next) => {
    response.once('prefinish', () => {
      if (!request.complete) closeLater(request, limits);
    });
    response.once('finish', () => dropRest(request));
    next();
  };

/** Keeps a request flowing, so that its connection gets free. A reader that stops late would leave the request paused. */
const dropRest = (request: Request): void =>
  void request
    .on('data', () => undefined)
    .on('pause', () => request.resume())
    .resume();

function closeLater(request: Request, { maxMs, maxBytes }: LingerLimits): void {
  const { socket } = request;
  const close = socket.destroySoon.bind(socket);
  // Node.js calls `destroySoon` after the last answer of a connection.
  socket.destroySoon = () => {
    socket.destroySoon = close;
    const maxBytesRead = socket.bytesRead + maxBytes;
    const late = setTimeout(() => socket.destroy(), maxMs).unref();
    const check = setInterval(() => {
      if (socket.bytesRead > maxBytesRead) socket.destroy();
    }, CHECK_MS).unref();
    const closed = () => {
      clearTimeout(late);
      clearInterval(check);
    };
    socket.once('close', closed).end();
    request.once('end', close).resume();
  };
}
