import type { RequestHandler } from 'express';
import type { PresentedCredential } from '../../../application/accounts/authenticator.js';
import type { RateLimitVerdict } from '../../../application/operations/ports.js';
import type { Reservation } from '../../../application/shared/memory-budget.js';
import type { IdGenerator, RequestContext } from '../../../application/shared/ports.js';
import type { Caller } from '../../../domain/accounts/caller.js';
import type { Call, Target } from '../contract.js';

/** Carries one request's state from one middleware to the next, as `request.context`. */
interface HttpContext {
  readonly requestId: string;
  /** Holds the whole path; Express strips the mounted part from `request.path`. */
  readonly path: string;
  /** Set by `readCredential`. Null: there is none that could be valid. */
  credential: PresentedCredential | null;
  /** Set by `authenticate`. Null: the caller is unknown. */
  caller: Caller | null;
  /** Holds the failure of the caller's lookup. `rateLimit` throws it after it has counted the call. */
  lookupFailure: unknown;
  /** True if the body was not complete when the credential was looked up. */
  bodyPending: boolean;
  /** Returns the quotas of the caller without counting a call. Set by `rateLimit`. */
  readQuotas: () => Promise<RateLimitVerdict['quotas']>;
  /** True if the request came after the shutdown had begun. */
  tooLate: boolean;
  /** Holds the contract's path. Null until the route is found. */
  route: string | null;
  /** Set by `readBody` or `validate`. */
  memory: Reservation | null;
  /** Set by `readBody`: the parsed value, a `ByteStream`, or the `InvalidRequest` that `validate` throws. */
  body: unknown;
  /** Set by `validate` when the path is valid, and again when the headers are valid. The check of existence uses it. */
  target: Target | null;
  /** Set by `validate`, for the controller. */
  call: Call | null;
  /** Set by `handle`: the controller's answer. */
  result: unknown;
}

const newContext = (requestId: string, path: string): HttpContext => ({
  requestId,
  path,
  credential: null,
  caller: null,
  lookupFailure: null,
  bodyPending: false,
  readQuotas: async () => [],
  tooLate: false,
  route: null,
  memory: null,
  body: undefined,
  target: null,
  call: null,
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
}

const SENT_REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Many steps listen to events of one response. By default Node.js warns about more than ten listeners of an event. */
const MAX_LISTENERS = 20;

/** Gives the request its context and its id. The answer and every log line of the request contain the id. */
export const requestContext =
  ({ ids, requests }: RequestContextDependencies): RequestHandler =>
  (request, response, next) => {
    const sentId = request.get('x-request-id') ?? '';
    const requestId = SENT_REQUEST_ID.test(sentId) ? sentId : ids.next('req');
    request.context = newContext(requestId, request.path ?? '/');
    response.setMaxListeners(MAX_LISTENERS).setHeader('X-Request-Id', requestId);
    requests.within(requestId, next);
  };
