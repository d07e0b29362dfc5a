import type { Request, RequestHandler } from 'express';
import type { Clock, Logger } from '../../../application/shared/ports.js';
import type { Contract } from '../contract.js';

/** Logs how each request ended. */
export const accessLog =
  ({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): RequestHandler =>
  (request, response, next) => {
    const begun = clock.now();
    const { method } = request;
    const { requestId, path } = request.context;
    response.once('close', () => {
      if (isProbe(request)) return;
      const ms = clock.now().getTime() - begun.getTime();
      const status = response.writableFinished ? response.statusCode : 'gone';
      // 'close' may be the connection's own event, which is outside of the request's log context.
      logger.info('request', { request_id: requestId, method, path: path.slice(0, 200), status, ms });
    });
    next();
  };

/** Monitoring asks for these all the time. */
export const isProbe = ({ context: { path } }: Request): boolean => path.startsWith('/health/') || path === '/metrics';

/** Counts requests. Each label has a bounded number of values. */
export interface HttpMetrics {
  /** Counts a request that has come. Call the result when it has ended. */
  began(): (end: { readonly method: string; readonly route: string; readonly status: string }) => void;
  /** Counts a call that exceeded a rate limit. */
  refused(limit: 'default' | 'auth'): void;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts each request under the path of its contract. */
export function countRequests(metrics: HttpMetrics, contracts: readonly Contract[]): RequestHandler {
  const routeOf = routeFinder(contracts);
  return (request, response, next) => {
    const ended = metrics.began();
    const { context } = request;
    response.once('close', () => {
      const route = context.route ?? routeOf(context.path) ?? (response.statusCode < 400 ? 'other' : 'unknown');
      const method = METHODS.has(request.method) ? request.method : 'other';
      ended({ method, route, status: response.writableFinished ? String(response.statusCode) : 'gone' });
    });
    next();
  };
}

/** Finds the contract's path for a request that was refused before it was routed. */
function routeFinder(contracts: readonly Contract[]): (path: string) => string | null {
  const known = [...new Set(contracts.map(({ path }) => path))].sort();
  const forms = known.map((path) => {
    const form = path.replace(/\{\w+\*\}/g, '.+').replace(/\{\w+\}/g, '[^/]+');
    return { path, form: new RegExp(`^${form}$`) };
  });
  return (path) => forms.find(({ form }) => form.test(path))?.path ?? null;
}
