import { Transform } from 'node:stream';
import type { Request, RequestHandler, Response } from 'express';
import { isBodyless } from '../body.js';
import { HttpRefusal } from '../refusals.js';
import { refuse } from './error-handler.js';

/** An ordinary body is complete within this time. */
const BODY_MS = 60_000;

/** A long body brings at least `FLOW_BYTES` in each `FLOW_MS`. */
const FLOW_MS = 15_000;
const FLOW_BYTES = 64 * 1024;

/** Limits for a caller who takes an answer slowly. */
interface ReadLimits {
  /** The longest time without a byte taken. */
  readonly stallMs: number;
  /** The time for the whole answer, besides the time that its length allows. */
  readonly wholeMs: number;
  readonly bytesPerSecond: number;
}

const READ_LIMITS: ReadLimits = { stallMs: 30_000, wholeMs: 60_000, bytesPerSecond: 16 * 1024 };

/** The requests whose bodies are read as long as they flow. */
const unhurried = new WeakSet<Request>();

/** Ends requests whose bodies arrive too slowly, and connections that take their answers too slowly. */
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

/** Calls `late` if the body has not come in time, also if nobody reads it since its request was refused. */
export function limitArrival(request: Request, late: () => void): void {
  if (isBodyless(request)) return;
  const timer = setTimeout(() => {
    if (unhurried.has(request)) timer.refresh();
    else if (!request.complete) late();
  }, BODY_MS).unref();
  const arrived = () => clearTimeout(timer);
  request.once('end', arrived).once('close', arrived);
}

/** The limits begin when the answer is complete, because the time before is the service's and not the reader's. */
function limitDeparture(response: Response, { stallMs, wholeMs, bytesPerSecond }: ReadLimits): void {
  response.once('prefinish', () => {
    const { socket } = response;
    if (!socket || socket.writableLength === 0) return;
    socket.setTimeout(stallMs); // Node destroys a connection whose timeout has no listener, and resets it for the next request
    const timer = setTimeout(
      () => socket.destroy(),
      wholeMs + (socket.writableLength / bytesPerSecond) * 1_000,
    ).unref();
    response.once('close', () => clearTimeout(timer));
  });
}

/**
 * Yields a body of any length, no faster than it is taken. Throws request_timeout when it stalls or only trickles, and
 * bad_request when it breaks off.
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
    // Pieces that wait to be taken are not the sender's delay.
    if (pieces.readableLength > 0) timer.refresh();
    else pieces.destroy(new HttpRefusal('request_timeout', `The body stalled for ${FLOW_MS / 1000} s.`));
  }, FLOW_MS);
  const cutOff = () => {
    if (!request.readableEnded) pieces.destroy(new HttpRefusal('bad_request', 'The body was cut off.'));
  };
  unhurried.add(request);
  try {
    if (request.destroyed) cutOff();
    else request.once('close', cutOff).pipe(pieces);
    yield* pieces;
  } finally {
    clearTimeout(timer);
    request.off('close', cutOff);
    pieces.destroy();
    unhurried.delete(request);
  }
}

interface LingerLimits {
  readonly maxMs: number;
  readonly maxBytes: number;
}

/** The rest of a request is read for so long, and up to so much, before its connection is closed. */
const LIMITS: LingerLimits = { maxMs: 2_000, maxBytes: 16 * 1024 * 1024 };
const LOOK_MS = 50;

/**
 * Reads and drops the rest of a request that is answered before all of it has come. Closing a connection with unread
 * bytes resets it, and the reset can destroy the answer on its way.
 */
export const lingeringClose =
  (limits = LIMITS): RequestHandler =>
  (request, response, next) => {
    response.once('prefinish', () => {
      if (!request.complete) closeLater(request, limits);
    });
    response.once('finish', () => request.resume());
    next();
  };

function closeLater(request: Request, { maxMs, maxBytes }: LingerLimits): void {
  const { socket } = request;
  const close = socket.destroySoon.bind(socket);
  // Node.js calls this after the last answer of a connection.
  socket.destroySoon = () => {
    socket.destroySoon = close;
    const most = socket.bytesRead + maxBytes;
    const late = setTimeout(() => socket.destroy(), maxMs).unref();
    const looking = setInterval(() => {
      if (socket.bytesRead > most) socket.destroy();
    }, LOOK_MS).unref();
    const closed = () => {
      clearTimeout(late);
      clearInterval(looking);
    };
    socket.once('close', closed).end();
    request.once('end', close).resume();
  };
}
