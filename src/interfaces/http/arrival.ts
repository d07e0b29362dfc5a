import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { HttpRefusal } from './http-refusal.js';

/** An ordinary body is there within this time, whole. */
const ARRIVAL_MS = 60_000;

/** A body that may be long brings at least so much in each such time. */
const FLOW_MS = 15_000;
const FLOW_BYTES = 64 * 1024;

/** The requests whose bodies are read as long as they flow. */
const unhurried = new WeakSet<IncomingMessage>();

export const isBodyless = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;

/** Calls `late` when the body has not arrived within its time. A refused one, too, is waited for no longer. */
export function limitArrival(request: IncomingMessage, late: () => void): void {
  if (isBodyless(request)) return;
  const timer = setTimeout(() => {
    if (unhurried.has(request)) timer.refresh();
    else if (!request.complete) late();
  }, ARRIVAL_MS).unref();
  const arrived = () => clearTimeout(timer);
  request.once('end', arrived).once('close', arrived);
}

/**
 * The body in its pieces, no faster than they are taken, for as long as it takes. Throws request_timeout when it stalls
 * or only trickles, bad_request when it breaks off.
 */
export async function* flowing(request: IncomingMessage): AsyncGenerator<Uint8Array> {
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
    // What waits to be taken is not the sender's delay.
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
