import cors from 'cors';
import type { RequestHandler } from 'express';
import { documentedHeaders } from './rate-limit/rate-limit-headers.js';

/** Lets the pages of these origins call; those of others get no CORS header at all, so that browsers keep them out. */
export const crossOrigin = (origins: readonly string[]): RequestHandler =>
  cors({
    origin: (origin, decide) => decide(null, origins.find((allowed) => allowed === origin) ?? false),
    exposedHeaders: ['X-Request-Id', 'X-Conversation-Id', 'ETag', 'Retry-After', ...Object.keys(documentedHeaders)],
    maxAge: 600,
    optionsSuccessStatus: 200,
  });
