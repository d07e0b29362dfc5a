import type { IncomingMessage, ServerResponse } from 'node:http';

/** How often the senders are looked at in the time that they may be silent. */
const LOOKS = 8;

/**
 * Calls `cutOff` for each request whose sender has stopped in the middle of it: of which nothing came for `mostMs`, and
 * nothing waits to be read. Answers how to end that.
 */
export function watchSenders(
  inFlight: ReadonlySet<ServerResponse>,
  mostMs: number,
  cutOff: (request: IncomingMessage, response: ServerResponse) => void,
): () => void {
  const silent = new Map<IncomingMessage, { bytes: number; looks: number }>();
  const look = () => {
    for (const response of inFlight) {
      const request = response.req;
      if (request.complete || response.headersSent) continue;
      const { bytesRead } = request.socket;
      const before = silent.get(request);
      const looks = before?.bytes === bytesRead && request.readableLength === 0 ? before.looks + 1 : 0;
      silent.set(request, { bytes: bytesRead, looks });
      if (looks === LOOKS) cutOff(request, response);
    }
  };
  const looking = setInterval(look, mostMs / LOOKS);
  return () => clearInterval(looking);
}
