import type { ServerResponse } from 'node:http';

export interface ReaderPatience {
  /** Without a byte of an answer taken. */
  readonly stallMs: number;
  /** For an answer in all, besides what its length allows. */
  readonly wholeMs: number;
  readonly bytesPerSecond: number;
}

const patience: ReaderPatience = { stallMs: 30_000, wholeMs: 60_000, bytesPerSecond: 16 * 1024 };

/**
 * Ends the connection of a caller who does not take an answer that is ready, or takes it drop by drop: it waits in
 * memory until it is taken. One that is still being made costs its maker's time, not the reader's.
 */
export function limitDeparture(response: ServerResponse, { stallMs, wholeMs, bytesPerSecond } = patience): void {
  response.once('prefinish', () => {
    const { socket } = response;
    if (!socket || socket.writableLength === 0) return;
    socket.setTimeout(stallMs); // a connection that nobody listens to then is destroyed; the next request sets it anew
    const most = wholeMs + (socket.writableLength / bytesPerSecond) * 1_000;
    const timer = setTimeout(() => socket.destroy(), most).unref();
    response.once('close', () => clearTimeout(timer));
  });
}
