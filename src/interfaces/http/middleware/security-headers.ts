import type { RequestHandler } from 'express';
import { isProbe } from './access-log.js';

/** Sets the headers that every answer has. Pages add a Content-Security-Policy of their own. */
export const securityHeaders = (): RequestHandler => (request, response, next) => {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  if (request.context.path.startsWith('/v1/') || isProbe(request)) response.setHeader('Cache-Control', 'no-store');
  next();
};
