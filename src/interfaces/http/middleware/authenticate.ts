import type { Request, RequestHandler } from 'express';
import type { Authenticator } from '../../../application/accounts/authenticator.js';
import { authorize } from '../../../domain/accounts/permission.js';
import type { Contract } from '../contract.js';

const BEARER = /^Bearer +(\S+) *$/i;

/** Returns the Bearer credential, or null if there is none. */
export const credentialOf = ({ headers }: Request): string | null =>
  BEARER.exec(headers.authorization ?? '')?.[1] ?? null;

/** Looks up who calls. It refuses nobody: `rateLimit` counts strangers too, and each route decides whom it takes. */
export const authenticate =
  (authenticator: Authenticator): RequestHandler =>
  async (request, _response, next) => {
    const { context } = request;
    try {
      context.caller = await authenticator.identify(credentialOf(request));
    } catch (error) {
      context.lookupFailure = error;
    }
    context.bodyPending = !request.complete;
    next();
  };

/** Refuses callers whom the route does not take. */
export const authorizeCaller =
  ({ access }: Contract): RequestHandler =>
  (request, _response, next) => {
    if (access !== 'public') authorize(request.context.caller, access);
    next();
  };

/** Looks up credential and role again if the body came after them: they may have been revoked meanwhile. */
export async function authorizeAgain(request: Request, { access }: Contract, authenticator: Authenticator) {
  const { context } = request;
  if (access === 'public' || !context.bodyPending) return;
  context.caller = authorize(await authenticator.identify(credentialOf(request)), access);
}
