import cors from 'cors';
import type { RequestHandler } from 'express';
import { documentedHeaders } from '../rate-limit/rate-limit-headers.js';

/** Lets pages of these origins call the API. Pages of other origins get no CORS header, so browsers keep them out. */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  const share = cors({
    origin: (origin, decide) => decide(null, origins.find((allowed) => allowed === origin) ?? false),
    exposedHeaders: ['X-Request-Id', 'X-Conversation-Id', 'ETag', 'Retry-After', ...Object.keys(documentedHeaders)],
    maxAge: 600,
    optionsSuccessStatus: 200,
  });
  return (request, response, next) => (request.headers.origin === undefined ? next() : share(request, response, next));
}
