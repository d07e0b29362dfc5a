import type { Request, RequestHandler } from 'express';

export interface LingerLimits {
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
