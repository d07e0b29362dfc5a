import type { Request, RequestHandler } from 'express';
import type { Authenticator } from '../../../application/accounts/authenticator.js';
import type { Caller } from '../../../domain/accounts/caller.js';
import { KeyScope } from '../../../domain/accounts/key-scope.js';
import { authorize, type Permission } from '../../../domain/accounts/permission.js';
import { isAnthropic } from '../chat/anthropic/anthropic-errors.js';
import type { Contract } from '../contract.js';

const BEARER = /^Bearer +(\S+) *$/i;

/** Reads the credential once for all later steps. Programs that expect Anthropic's API send it in `x-api-key`. */
export const readCredential =
  (authenticator: Authenticator): RequestHandler =>
  (request, _response, next) => {
    const { context, headers } = request;
    const [, bearer = null] = BEARER.exec(headers.authorization ?? '') ?? [];
    const key = isAnthropic(context.path) ? request.get('x-api-key') : undefined;
    context.credential = authenticator.read(bearer ?? key?.trim() ?? null);
    next();
  };

/** Looks up the caller, and refuses nobody: `rateLimit` counts unknown callers, too, and some routes are public. */
export const authenticate =
  (authenticator: Authenticator): RequestHandler =>
  async (request, _response, next) => {
    const { context } = request;
    try {
      context.caller = await authenticator.identify(context.credential);
    } catch (error) {
      context.lookupFailure = error;
    }
    context.bodyPending = !request.complete;
    next();
  };

/** Authorizes a caller for a route. An API key must also be for the project that the path names. */
function authorized({ params }: Request, caller: Caller | null, access: Permission): Caller {
  const allowed = authorize(caller, access);
  if (typeof params.project_id === 'string') KeyScope.requireProject(allowed, params.project_id);
  return allowed;
}

/** Refuses callers without the permission of the route. */
export const authorizeCaller =
  ({ access }: Contract): RequestHandler =>
  (request, _response, next) => {
    if (access !== 'public') authorized(request, request.context.caller, access);
    next();
  };

/** Looks up the caller again if the body arrived after the first lookup. The credential may have been revoked since. */
export async function authorizeAgain(request: Request, { access }: Contract, authenticator: Authenticator) {
  const { context } = request;
  if (access === 'public' || !context.bodyPending) return;
  context.caller = authorized(request, await authenticator.identify(context.credential), access);
}
