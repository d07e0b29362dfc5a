/** Explains failures of engines elsewhere. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ConnectionFailed } from './http-client.js';

/** Returns 1 to 60 whole seconds, or null for anything but a number of them. */
export const retryAfterOf = (headers: IncomingHttpHeaders): number | null => {
  const [first] = [headers['retry-after']].flat();
  return first && /^\d{1,9}$/.test(first) ? Math.min(60, Math.max(1, Number(first))) : null;
};

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the engine refuses connections',
  ENOTFOUND: 'the host of the engine is unknown',
  EAI_AGAIN: 'the host of the engine is unknown',
  UND_ERR_CONNECT_TIMEOUT: 'the host of the engine does not answer',
};

/** Returns why a connection failed, without any address. */
export function causeOf({ status, closed, code }: ConnectionFailed): string {
  if (status !== null) return 'the engine broke off its answer';
  if (closed) return 'the engine closed the connection';
  return CAUSES[code] ?? `the engine can't be reached (${code})`;
}
