import cors from 'cors';
import type { Exchange } from './exchange.js';
import { documentedHeaders } from './rate-limit/rate-limit-headers.js';

/**
 * Lets the pages of these origins call; those of others get no CORS header at all, so that browsers keep them out. What
 * it gives says whether a request goes on: it does not where a browser only asks first, which is answered here.
 */
export function crossOrigin(origins: readonly string[]): (exchange: Exchange) => boolean {
  const share = cors({
    origin: (origin, decide) => decide(null, origins.find((allowed) => allowed === origin) ?? false),
    exposedHeaders: ['X-Request-Id', 'X-Conversation-Id', 'ETag', 'Retry-After', ...Object.keys(documentedHeaders)],
    maxAge: 600,
    optionsSuccessStatus: 200,
  });
  return ({ request, response }) => {
    if (request.headers.origin === undefined) return true;
    let goesOn = false;
    share(request, response, () => {
      goesOn = true;
    });
    return goesOn;
  };
}
