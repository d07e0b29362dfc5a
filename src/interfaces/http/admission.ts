import type { NextFunction, Request, Response } from 'express';
import type { IdentifyCaller } from '../../application/access/identify-caller.js';
import type { Caller } from '../../domain/access/caller.js';
import type { HttpWatch } from './http-watch.js';
import { credentialKey, sourceKey } from './rate-limit/caller-key.js';
import { rateLimited, rateLimitHeaders } from './rate-limit/rate-limit-headers.js';
import type { RateLimiter, Standing } from './rate-limit/rate-limiter.js';

/** They share a limit of their own, besides the one for all. */
const AUTH_PATHS: readonly string[] = ['/v1/auth/register', '/v1/auth/login', '/v1/auth/site-login'];

/**
 * Finds out who calls, once for each request, and refuses whoever is over a limit before anything else is looked at,
 * even whether there is such a route. Where nobody can be told, the call counts for its address. What is `counted` comes
 * from another process of the service, which has done that.
 */
export const admission =
  (
    identifyCaller: IdentifyCaller,
    limiter: RateLimiter,
    watch: Pick<HttpWatch, 'refused'>,
    counted: (request: Request) => boolean,
  ) =>
  async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const credential = bearer(request);
    const identified = await identifyCaller.execute(credential).then(
      (caller) => ({ caller }),
      (error: unknown) => ({ caller: null, error }),
    );
    const key = identified.caller && credential ? credentialKey(credential) : sourceKey(request);
    const isAuth = request.method === 'POST' && AUTH_PATHS.includes(request.path);
    if (!counted(request)) {
      const { standings, exceeded } = limiter.admit(key, isAuth);
      response.set(rateLimitHeaders(standings));
      if (exceeded) watch.refused(exceeded.policy);
      if (exceeded) throw rateLimited(exceeded);
    }
    if ('error' in identified) throw identified.error;
    response.locals.caller = identified.caller;
    response.locals.standings = () => limiter.standings(key);
    next();
  };

/**
 * Outside /v1, for the master key alone: it is never refused, so that no other use of it can blind whoever watches the
 * service. All others are counted by their address, so that guessing takes long.
 */
export const masterAdmission =
  (identifyCaller: IdentifyCaller, limiter: RateLimiter, watch: Pick<HttpWatch, 'refused'>) =>
  async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const caller = await identifyCaller.execute(bearer(request));
    const exceeded = caller?.kind === 'master' ? null : limiter.admit(sourceKey(request), false).exceeded;
    if (exceeded) watch.refused(exceeded.policy);
    if (exceeded) throw rateLimited(exceeded);
    response.locals.caller = caller;
    next();
  };

/** Who calls; null for a stranger, and where nobody is asked. */
export const callerOf = (response: Response): Caller | null => response.locals.caller ?? null;

/** How the caller stands towards the limits; nobody has any outside /v1. */
export const standingsOf = (response: Response): Standing[] => response.locals.standings?.() ?? [];

const bearer = (request: Request): string | null =>
  /^Bearer +(\S+) *$/i.exec(request.get('authorization') ?? '')?.[1] ?? null;
