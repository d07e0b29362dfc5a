import type { Request, RequestHandler } from 'express';
import type { Quota, RateLimit, RateLimitKey, RateLimitStore } from '../../../application/operations/ports.js';
import { credentialKey, rateLimited, rateLimitHeaders, sourceKey, tightest } from '../quotas.js';
import { credentialOf } from './authenticate.js';
import type { HttpMetrics } from './observability.js';

export interface Limits {
  /** All calls of a caller. */
  readonly perMinute: number;
  /** Registrations and logins among them. */
  readonly authPerMinute: number;
}

export interface RateLimitDependencies {
  readonly store: RateLimitStore;
  readonly limits: Limits;
  readonly metrics: Pick<HttpMetrics, 'refused'>;
}

/** These share one budget, besides the limit for all calls. */
const AUTH_PATHS: readonly string[] = ['/v1/auth/register', '/v1/auth/login', '/v1/auth/site-login'];

/**
 * Counts the call under its credential, or under its address if the credential is not valid. Answers 429 before anything
 * else is looked at, even whether the route exists.
 */
export function rateLimit({ store, limits, metrics }: RateLimitDependencies): RequestHandler {
  const all: RateLimit = { policy: 'default', limit: limits.perMinute };
  const auth: RateLimit = { policy: 'auth', limit: limits.authPerMinute };
  return async (request, response, next) => {
    const { context } = request;
    const key = keyOf(request);
    const isAuth = request.method === 'POST' && AUTH_PATHS.includes(context.path);
    const { admitted, quotas } = await store.take(key, isAuth ? [all, auth] : [all], 1);
    response.set(rateLimitHeaders(quotas));
    if (!admitted) throw refusal(quotas, metrics);
    if (context.lookupFailure) throw context.lookupFailure;
    context.readQuotas = async () => (await store.take(key, [all, auth], 0)).quotas;
    next();
  };
}

/**
 * Counts everybody but the master key, which is never refused: no other use of it can blind the monitoring. Guesses of
 * the key are counted by address, apart from the calls of the API.
 */
export const rateLimitGuesses =
  ({ store, limits, metrics }: RateLimitDependencies): RequestHandler =>
  async (request, _response, next) => {
    const { caller, lookupFailure } = request.context;
    if (lookupFailure) throw lookupFailure;
    if (caller?.kind !== 'master') {
      const { kind, value } = sourceKey(request);
      const key = { kind, value: `metrics ${value}` };
      const { admitted, quotas } = await store.take(key, [{ policy: 'default', limit: limits.perMinute }], 1);
      if (!admitted) throw refusal(quotas, metrics);
    }
    next();
  };

function keyOf(request: Request): RateLimitKey {
  const credential = credentialOf(request);
  return request.context.caller && credential ? credentialKey(credential) : sourceKey(request);
}

function refusal(quotas: readonly Quota[], metrics: RateLimitDependencies['metrics']) {
  const exceeded = tightest(quotas);
  metrics.refused(exceeded.policy);
  return rateLimited(exceeded);
}
