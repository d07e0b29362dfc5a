import type { Request, RequestHandler, Response } from 'express';
import type { RateLimit } from '../../../application/operations/ports.js';
import type { Clock, Logger, SpanAttributes, Tracer } from '../../../application/shared/ports.js';
import type { Contract } from '../contract.js';

/** Logs how each request ended, except probes. The level is `info`, and `debug` for a file that a page has loaded. */
export const accessLog =
  ({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): RequestHandler =>
  (request, response, next) => {
    if (isProbe(request)) return next();
    const begun = clock.now();
    const { path } = request.context;
    const log = logger.child({ method: request.method, path: path.slice(0, LONGEST_PATH) });
    response.once('close', () => {
      const ms = clock.now().getTime() - begun.getTime();
      const status = response.writableFinished ? response.statusCode : 'gone';
      const level = PAGE_FILES.test(path) && response.statusCode < 400 ? 'debug' : 'info';
      log[level]('request', { status, ms });
    });
    next();
  };

const PAGE_FILES = /^\/(pages|docs)\//;

/** Checks whether a request is one of the many that monitoring sends. */
export const isProbe = ({ context: { path } }: Request): boolean => path.startsWith('/health/') || path === '/metrics';

/** Counts requests. Each label has a bounded number of values. */
export interface HttpMetrics {
  /** Counts a new request. Call the returned function when the request has ended. */
  began(): (end: { readonly method: string; readonly route: string; readonly status: string }) => void;
  /** Counts a call that exceeded a rate limit. */
  refused(limit: RateLimit['policy']): void;
}

const LONGEST_PATH = 200;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export interface Observers {
  readonly metrics: HttpMetrics;
  readonly tracer: Tracer;
}

/** Counts each request under the path of its contract, and records it as a span. */
export function observeRequests({ metrics, tracer }: Observers, contracts: readonly Contract[]): RequestHandler {
  const routeOf = routeFinder(contracts);
  return (request, response, next) => {
    const ended = metrics.began();
    const { context } = request;
    const method = METHODS.has(request.method) ? request.method : 'other';
    const span = isProbe(request) ? null : tracer.start(method, { kind: 'server', cause: request.headers });
    response.once('close', () => {
      const known = context.route ?? routeOf(context.path);
      const status = response.writableFinished ? String(response.statusCode) : 'gone';
      ended({ method, route: known ?? (response.statusCode < 400 ? 'other' : 'unknown'), status });
      if (span?.isRecorded) span.set(attributesOf(request, response, known), known ? `${method} ${known}` : method);
      span?.end(response.writableFinished && response.statusCode >= 500 ? status : undefined);
    });
    if (span) span.run(next);
    else next();
  };
}

/** Returns the attributes of a span. Leaves out the query, and a path that may contain a secret. */
const attributesOf = (request: Request, response: Response, route: string | null): SpanAttributes => ({
  'http.request.method': request.method,
  'http.route': route ?? undefined,
  'http.response.status_code': response.writableFinished ? response.statusCode : undefined,
  'url.scheme': request.protocol,
  'url.path': route?.includes('{token}') === false ? request.context.path.slice(0, LONGEST_PATH) : undefined,
  'client.address': request.ip,
  'network.protocol.version': request.httpVersion,
  'user_agent.original': request.get('user-agent')?.slice(0, LONGEST_PATH),
  'tenon.request.id': request.context.requestId,
});

/** Returns a function that finds the contract's path for a request that was refused before its route was found. */
function routeFinder(contracts: readonly Contract[]): (path: string) => string | null {
  const known = [...new Set(contracts.map(({ path }) => path))].sort();
  const forms = known.map((path) => {
    const form = path.replace(/\{\w+\*\}/g, '.+').replace(/\{\w+\}/g, '[^/]+');
    return { path, form: new RegExp(`^${form}$`) };
  });
  return (path) => forms.find(({ form }) => form.test(path))?.path ?? null;
}
