import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Rest {
  readonly mostMs: number;
  readonly mostBytes: number;
}

/** For so long, and of so much, the rest of a request is taken in before its connection is closed. */
const rest: Rest = { mostMs: 2_000, mostBytes: 16 * 1024 * 1024 };
const LOOK_MS = 50;

/**
 * To close a connection on which something waits unread resets it, and the answer may be lost with that. So where an
 * answer is the last of its connection and comes before the request is there whole, the rest is read and thrown away,
 * for a while, before the connection is closed.
 */
export function lingerAfter(request: IncomingMessage, response: ServerResponse, { mostMs, mostBytes } = rest): void {
  response.once('prefinish', () => {
    if (request.complete) return;
    const { socket } = request;
    const close = socket.destroySoon.bind(socket);
    // What Node.js calls after the last answer of a connection.
    socket.destroySoon = () => {
      socket.destroySoon = close;
      const most = socket.bytesRead + mostBytes;
      const late = setTimeout(() => socket.destroy(), mostMs).unref();
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
  });
}
