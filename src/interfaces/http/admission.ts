import type { IncomingMessage } from 'node:http';
import type { IdentifyCaller } from '../../application/accounts/identify-caller.js';
import type { Caller } from '../../domain/accounts/caller.js';
import type { Exchange } from './exchange.js';
import type { HttpWatch } from './http-watch.js';
import { type CallerKey, credentialKey, sourceKey } from './rate-limit/caller-key.js';
import { rateLimited, rateLimitHeaders } from './rate-limit/rate-limit-headers.js';
import type { RateLimiter } from './rate-limit/rate-limiter.js';

/** They share a limit of their own, besides the one for all. */
const AUTH_PATHS: readonly string[] = ['/v1/auth/register', '/v1/auth/login', '/v1/auth/site-login'];

export interface AdmissionParts {
  readonly identifyCaller: IdentifyCaller;
  readonly limiter: RateLimiter;
  readonly watch: Pick<HttpWatch, 'refused'>;
  /** The address that a request comes from, as far as that is believed. */
  readonly addressOf: (request: IncomingMessage) => string | undefined;
}

/**
 * Finds out who calls, once for each request, and refuses whoever is over a limit before anything else is looked at,
 * even whether there is such a route. Where nobody can be told, the call counts for its address. What is `counted` comes
 * from another process of the service, which has done that.
 */
export const admission =
  (parts: AdmissionParts, counted: (exchange: Exchange) => boolean) =>
  async (exchange: Exchange): Promise<void> => {
    const { identifyCaller, limiter, watch } = parts;
    const { credential } = exchange;
    let caller: Caller | null = null;
    let failure: { readonly error: unknown } | null = null;
    try {
      caller = await identifyCaller.execute(credential);
    } catch (error) {
      failure = { error };
    }
    const key = caller && credential ? credentialKey(credential) : sourceOf(parts, exchange);
    const isAuth = exchange.method === 'POST' && AUTH_PATHS.includes(exchange.path);
    if (!counted(exchange)) {
      const { standings, exceeded } = limiter.admit(key, isAuth);
      exchange.set(rateLimitHeaders(standings));
      if (exceeded) watch.refused(exceeded.policy);
      if (exceeded) throw rateLimited(exceeded);
    }
    if (failure) throw failure.error;
    exchange.caller = caller;
    exchange.standings = () => limiter.standings(key);
  };

/**
 * Outside /v1, for the master key alone: it is never refused, so that no other use of it can blind whoever watches the
 * service. All others are counted by their address, so that guessing takes long.
 */
export const masterAdmission =
  (parts: AdmissionParts) =>
  async (exchange: Exchange): Promise<void> => {
    const { identifyCaller, limiter, watch } = parts;
    const caller = await identifyCaller.execute(exchange.credential);
    const exceeded = caller?.kind === 'master' ? null : limiter.admit(sourceOf(parts, exchange), false).exceeded;
    if (exceeded) watch.refused(exceeded.policy);
    if (exceeded) throw rateLimited(exceeded);
    exchange.caller = caller;
  };

const sourceOf = ({ addressOf }: AdmissionParts, { request }: Exchange): CallerKey =>
  sourceKey({ ip: addressOf(request), socket: request.socket });
