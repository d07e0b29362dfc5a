import type { RequestHandler } from 'express';
import type { RateLimitVerdict } from '../../../application/operations/ports.js';
import type { IdGenerator, Logger, RequestContext } from '../../../application/shared/ports.js';
import type { Caller } from '../../../domain/accounts/caller.js';
import type { BodyMemory } from '../body.js';
import type { Call, Target } from '../contract.js';

/** Carries one request's state from one middleware to the next, as `request.context`. */
interface HttpContext {
  readonly requestId: string;
  /** Holds the whole path; Express strips the mounted part from `request.path`. */
  readonly path: string;
  /** Set by `authenticate`; null for a stranger. */
  caller: Caller | null;
  /** Holds the failure of the caller's lookup. `rateLimit` throws it once the call is counted. */
  lookupFailure: unknown;
  /** True if the body was not complete when the credential was looked up. */
  bodyPending: boolean;
  /** Reads the quotas of the caller without counting a call. */
  readQuotas: () => Promise<RateLimitVerdict['quotas']>;
  /** True if the request came after the shutdown had begun. */
  tooLate: boolean;
  /** Holds the contract's path, once the route is found. */
  route: string | null;
  /** Set by `readBody`: a JSON value, a `ByteStream`, or the `InvalidRequest` to throw once the object is known to exist. */
  body: unknown;
  /** Set by `validate` as soon as path and headers are valid, for the check of existence. */
  target: Target | null;
  /** Set by `validate`, for the controller. */
  call: Call | null;
  /** Lowers the memory reserved for data to that of the answer's text, once the text is made. */
  answerMade: () => void;
  /** Set by `handle`: the controller's answer. */
  result: unknown;
}

const newContext = (requestId: string, path: string): HttpContext => ({
  requestId,
  path,
  caller: null,
  lookupFailure: null,
  bodyPending: false,
  readQuotas: async () => [],
  tooLate: false,
  route: null,
  body: undefined,
  target: null,
  call: null,
  answerMade: () => undefined,
  result: undefined,
});

declare global {
  namespace Express {
    interface Request {
      context: HttpContext;
    }
  }
}

export interface RequestContextDependencies {
  readonly ids: IdGenerator;
  readonly requests: RequestContext;
  readonly bodyMemory: BodyMemory;
  readonly logger: Logger;
}

const OWN_REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Many parts watch one response, the pipeline of a streamed one among them. Node warns from the eleventh listener on. */
const MAX_LISTENERS = 20;

/** Gives the request its id, which the answer and every log line of the request carry. */
export const requestContext =
  ({ ids, requests, logger, bodyMemory }: RequestContextDependencies): RequestHandler =>
  (request, response, next) => {
    const own = request.get('x-request-id') ?? '';
    const requestId = OWN_REQUEST_ID.test(own) ? own : ids.next('req');
    request.context = newContext(requestId, request.path ?? '/');
    response.setMaxListeners(MAX_LISTENERS).setHeader('X-Request-Id', requestId);
    let lowerTo = (_bytes: number) => {};
    const reserve = async (...lengths: number[]) => {
      lowerTo(0);
      lowerTo = await bodyMemory.reserve(lengths, response);
      const bytes = lengths.reduce((sum, length) => sum + length, 0);
      request.context.answerMade = () => lowerTo(2 * bytes); // the text, and its copy in the socket
    };
    requests.within({ id: requestId, reserve }, () => logger.within({ request_id: requestId }, next));
  };
