import cors from 'cors';
import type { RequestHandler } from 'express';
import { isOpenAi } from '../chat/openai/openai-errors.js';
import { HttpRefusal } from '../refusals.js';
import { isProbe } from './observability.js';
import { documentedHeaders } from './rate-limit.js';

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/**
 * Refuses HTTP/1.1 requests without `Host`, and requests with a repeated `Host`, for another host, or with a transfer
 * coding other than chunked. Accepts loopback names and `allowedHosts` with any port. Null accepts every host.
 */
export const hostCheck =
  (allowedHosts: readonly string[] | null): RequestHandler =>
  (request, _response, next) => {
    const [host, ...more] = request.headersDistinct.host ?? [];
    if (!host && request.httpVersion === '1.1') throw badRequest('The request has no Host header.');
    if (more.length > 0) throw badRequest('The request has more than one Host header.');
    const coding = request.headers['transfer-encoding'];
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      throw badRequest('The only transfer coding that is understood is chunked.');
    }
    if (host && allowedHosts && !isAllowed(host, allowedHosts)) {
      throw new HttpRefusal('misdirected_request', `This service does not answer for the host ${host.slice(0, 100)}.`);
    }
    next();
  };

function isAllowed(host: string, allowedHosts: readonly string[]): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  return LOOPBACK_HOST.test(name) || allowedHosts.includes(name);
}

const badRequest = (message: string) => new HttpRefusal('bad_request', message, { Connection: 'close' });

/** Sets the headers that every answer has. Pages add a Content-Security-Policy of their own. */
export const securityHeaders = (): RequestHandler => (request, response, next) => {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  const { path } = request.context;
  if (path.startsWith('/v1/') || isOpenAi(path) || isProbe(request)) response.setHeader('Cache-Control', 'no-store');
  next();
};

/** Lets pages of these origins call the API. Answers to other origins have no CORS header, so browsers block them. */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  const share = cors({
    origin: (origin, decide) => decide(null, origins.find((allowed) => allowed === origin) ?? false),
    exposedHeaders: [
      'X-Request-Id',
      'X-Conversation-Id',
      'X-Model-Id',
      'X-Budget-Id',
      'x-should-retry',
      'Inference-Header-Content-Length',
      'ETag',
      'Retry-After',
      ...Object.keys(documentedHeaders),
    ],
    maxAge: 600,
    optionsSuccessStatus: 200,
  });
  return (request, response, next) => (request.headers.origin === undefined ? next() : share(request, response, next));
}
