import type { RequestHandler } from 'express';
import type { IdGenerator, Logger, RequestContext } from '../../../application/shared/ports.js';
import { newContext } from '../context.js';

export interface RequestContextDependencies {
  readonly ids: IdGenerator;
  readonly requests: RequestContext;
  readonly logger: Logger;
}

const OWN_REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Many parts watch one response, the pipeline of a streamed one among them. Node warns from the eleventh listener on. */
const MAX_LISTENERS = 20;

/** Gives the request its id, which the answer and every log line of the request carry. */
export const requestContext =
  ({ ids, requests, logger }: RequestContextDependencies): RequestHandler =>
  (request, response, next) => {
    const own = request.get('x-request-id') ?? '';
    const requestId = OWN_REQUEST_ID.test(own) ? own : ids.next('req');
    request.context = newContext(requestId, request.path ?? '/');
    response.setMaxListeners(MAX_LISTENERS).setHeader('X-Request-Id', requestId);
    requests.within(requestId, () => logger.within({ request_id: requestId }, next));
  };
