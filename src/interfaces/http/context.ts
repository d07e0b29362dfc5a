import type { RateLimitVerdict } from '../../application/operations/ports.js';
import type { Caller } from '../../domain/accounts/caller.js';
import type { Call } from './contract.js';

/** What the middleware has found out about one request. */
export interface HttpContext {
  readonly requestId: string;
  /** The whole path, also where Express strips the part that a router is mounted on. */
  readonly path: string;
  /** Null for a stranger, and outside of routes that ask who calls. */
  caller: Caller | null;
  /** The failure of the lookup that should have found the caller. It is thrown once the call is counted. */
  lookupFailure: unknown;
  /** The body was not complete when the credential was looked up. */
  bodyPending: boolean;
  /** Reads the quotas of the caller without counting a call. */
  readQuotas: () => Promise<RateLimitVerdict['quotas']>;
  /** It came after the service had begun to end. */
  tooLate: boolean;
  /** The contract's path, once the route is found. */
  route: string | null;
  /** The body as the contract wants it read: JSON, a stream of bytes, or `InvalidRequest` if its content is refused. */
  body: unknown;
  /** What the call addresses, as soon as its path is valid. */
  target: Pick<Call, 'caller' | 'params' | 'headers'> | null;
  /** The validated call, for the controller. */
  call: Call | null;
  /** What the controller answered. */
  result: unknown;
}

export const newContext = (requestId: string, path: string): HttpContext => ({
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
  result: undefined,
});

declare global {
  namespace Express {
    interface Request {
      context: HttpContext;
    }
  }
}
