import type { Request, RequestHandler } from 'express';
import type { Clock, Logger } from '../../../application/shared/ports.js';

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
