import type { RequestHandler } from 'express';
import { injectable } from 'inversify';
import { Logger } from '../../../src/application/shared/ports.js';
import { Middleware } from '../../../src/interfaces/http/app.js';

/** Refuses every change. */
@injectable()
export class ReadOnlyMode extends Middleware {
  constructor(private readonly logger: Logger) {
    super();
  }

  readonly handle: RequestHandler = (request, response, next) => {
    response.setHeader('X-Mode', 'read-only');
    if (['GET', 'HEAD'].includes(request.method)) return next();
    this.logger.info('refused in read-only mode', { path: request.context.path });
    response.status(503).json({ message: 'This service can be read, but not changed.' });
  };
}
