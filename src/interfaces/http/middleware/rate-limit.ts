import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { Request, RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import { isStored } from '../../../application/accounts/authenticator.js';
import type { Quota, RateLimit, RateLimitKey, RateLimitStore } from '../../../application/operations/ports.js';
import type { Caller } from '../../../domain/accounts/caller.js';
import { HttpRefusal } from '../refusals.js';
import type { HttpMetrics } from './observability.js';

interface Limits {
  /** Limits all calls of a caller. */
  readonly perMinute: number;
  /** Limits registrations and logins, which also count under `perMinute`. */
  readonly authPerMinute: number;
}

export interface RateLimitDependencies {
  readonly store: RateLimitStore;
  readonly limits: Limits;
  readonly metrics: Pick<HttpMetrics, 'refused'>;
}

/** Lists the paths that share the limit `auth`, besides the limit for all calls. */
const AUTH_PATHS: readonly string[] = ['/v1/auth/register', '/v1/auth/login', '/v1/auth/site-login'];

const MAX_KNOWN = 10_000;

/** Remembers the rate limit keys of recent callers by the digests of their credentials. */
export class RecentCallers {
  private readonly keys = new Map<string, RateLimitKey>();

  /** Returns the key of a recent caller, or the key that all unknown credentials from the request's address share. */
  readonly keyOf = (request: Request): RateLimitKey => {
    const { credential } = request.context;
    const known = isStored(credential) && this.keys.get(credential.digest);
    if (known) return known;
    const { kind, value } = sourceKey(request);
    return { kind, value: `unknown ${value}` };
  };

  remember(digest: string, key: RateLimitKey): void {
    this.keys.delete(digest); // moves it to the end
    this.keys.set(digest, key);
    const [oldest] = this.keys.keys();
    if (this.keys.size > MAX_KNOWN && oldest !== undefined) this.keys.delete(oldest);
  }

  forget(digest: string): void {
    this.keys.delete(digest);
  }
}

/** Refuses a caller over its limit before the database looks up the credential. `keyOf` returns the key to check. */
export function refuseBeforeLookup(
  { store, limits, metrics }: RateLimitDependencies,
  keyOf: (request: Request) => RateLimitKey,
): RequestHandler {
  const all: RateLimit = { policy: 'default', limit: limits.perMinute };
  return async (request, response, next) => {
    if (isStored(request.context.credential)) {
      const quotas = await store.reached(keyOf(request), [all]);
      if (quotas) {
        response.set(rateLimitHeaders(quotas));
        throw refusal(quotas, metrics);
      }
    }
    next();
  };
}

/**
 * Counts the call under its credential, or under its address if the credential is not valid. Answers 429 before any
 * other check, even for a route that does not exist. Registrations and logins always count under the address, too:
 * several credentials at one address do not allow more of them.
 */
export function rateLimit(dependencies: RateLimitDependencies, recent: RecentCallers): RequestHandler {
  const { store, limits, metrics } = dependencies;
  const all: RateLimit = { policy: 'default', limit: limits.perMinute };
  const auth: RateLimit = { policy: 'auth', limit: limits.authPerMinute };
  return async (request, response, next) => {
    const { context } = request;
    const { caller, credential } = context;
    const isAuth = request.method === 'POST' && AUTH_PATHS.includes(context.path);
    const key = caller ? credentialKey(caller) : sourceKey(request);
    if (isStored(credential) && !context.lookupFailure) {
      if (caller) recent.remember(credential.digest, key);
      else {
        // Also counted if the call is refused below. Otherwise, behind a spent address, each token would be looked up.
        recent.forget(credential.digest);
        await store.take(recent.keyOf(request), [all], 1);
      }
    }
    const address = isAuth && caller ? sourceKey(request) : null; // such a call counts twice
    const addressQuotas = address ? (await store.take(address, [auth], 0)).quotas : [];
    const isSpent = addressQuotas.some(({ remaining }) => remaining === 0);
    const own = keyLimits(caller);
    const { admitted, quotas } = await store.take(key, [all, ...(isAuth ? [auth] : []), ...own], isSpent ? 0 : 1);
    response.set(rateLimitHeaders(isSpent ? addressQuotas : quotas));
    if (isSpent || !admitted) throw refusal(isSpent ? addressQuotas : quotas, metrics);
    if (address) {
      const counted = await store.take(address, [auth], 1); // other calls may have spent the address meanwhile
      if (!counted.admitted) {
        response.set(rateLimitHeaders(counted.quotas));
        throw refusal(counted.quotas, metrics);
      }
    }
    if (context.lookupFailure) throw context.lookupFailure;
    context.readQuotas = async () => (await store.take(key, [all, auth, ...own], 0)).quotas;
    next();
  };
}

/**
 * Limits guesses of the master key by address, and counts them apart from the calls of the API. Does not limit calls
 * with the master key, so that monitoring always works.
 */
export const rateLimitGuesses =
  ({ store, limits, metrics }: RateLimitDependencies): RequestHandler =>
  async (request, _response, next) => {
    const { caller, lookupFailure } = request.context;
    if (lookupFailure) throw lookupFailure;
    if (caller?.kind !== 'master') {
      const limit: RateLimit = { policy: 'default', limit: limits.perMinute };
      const { admitted, quotas } = await store.take(guessKey(request), [limit], 1);
      if (!admitted) throw refusal(quotas, metrics);
    }
    next();
  };

export function guessKey(request: Request): RateLimitKey {
  const { kind, value } = sourceKey(request);
  return { kind, value: `metrics ${value}` };
}

const credentialKey = (caller: Caller): RateLimitKey => ({
  kind: 'credential',
  value: caller.kind === 'master' ? 'master' : caller.credentialId,
});

/** Returns the limit that the owner of an API key has given it. It counts besides the limit of all callers. */
const keyLimits = (caller: Caller | null): RateLimit[] => {
  const limit = caller?.kind === 'api_key' && caller.restrictions?.requestsPerMinute;
  return limit ? [{ policy: 'key', limit }] : [];
};

function refusal(quotas: readonly Quota[], metrics: RateLimitDependencies['metrics']) {
  const exceeded = tightest(quotas);
  metrics.refused(exceeded.policy);
  return rateLimited(exceeded);
}

/** Returns the quota with the fewest calls left, and among several of these the one with the longest wait. */
const tightest = (quotas: readonly Quota[]): Quota =>
  [...quotas].sort((a, b) => a.remaining - b.remaining || b.seconds - a.seconds)[0] as Quota;

/** Returns headers with the quotas of a caller, in the form of the IETF draft and in the form of OpenAI. */
export function rateLimitHeaders(quotas: readonly Quota[]): Record<string, string> {
  const { limit, remaining, seconds } = tightest(quotas);
  return {
    'RateLimit-Policy': quotas.map((one) => `"${one.policy}";q=${one.limit};w=60`).join(', '),
    RateLimit: quotas.map((one) => `"${one.policy}";r=${one.remaining};t=${one.seconds}`).join(', '),
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-reset-requests': duration(seconds),
  };
}

/** Returns a duration as OpenAI writes it: `12s`, `1m0s`. */
const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;

const LIMITED = { default: 'requests', auth: 'registrations and logins', key: 'requests with this API key' } as const;

function rateLimited({ policy, limit, seconds }: Quota): HttpRefusal {
  const message = `The limit is ${limit} ${LIMITED[policy]} per minute: try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return new HttpRefusal('rate_limited', message, { 'Retry-After': String(seconds) });
}

const integer = { type: 'integer' } as const;
const string = { type: 'string' } as const;

/** Describes the headers of `rateLimitHeaders` for the OpenAPI document. */
export const documentedHeaders = {
  'RateLimit-Policy': { schema: string, description: 'Each limit that applies: `q` requests within `w` seconds.' },
  RateLimit: { schema: string, description: 'For each limit: `r` requests are left, and in `t` seconds more will be.' },
  'x-ratelimit-limit-requests': { schema: integer, description: 'The limit with the fewest requests left.' },
  'x-ratelimit-remaining-requests': { schema: integer, description: 'The requests that are left of this limit.' },
  'x-ratelimit-reset-requests': {
    schema: string,
    description: 'The time until more requests are left: `12s`, `1m0s`.',
  },
} as const;

interface Source {
  readonly ip: string | undefined;
  readonly socket: Pick<Socket, 'remoteAddress'>;
}

/** Returns the key of the caller's address. Uses the address of the proxy if the forwarded `ip` is not an address. */
export function sourceKey({ ip, socket }: Source): RateLimitKey {
  return { kind: 'address', value: sourceOf(ip ?? '') ?? sourceOf(socket.remoteAddress ?? '') ?? '' };
}

/** Returns the caller's address, or the proxy's if the forwarded one is none. Returns null for a closed connection. */
export function addressOf({ ip, socket }: Source): string | null {
  const plain = (text = '') => withoutPort(text).replace(/%.*$/, '');
  const address = [ip, socket.remoteAddress].map(plain).find(ipaddr.isValid);
  return address === undefined ? null : ipaddr.process(address).toString();
}

/** Returns an IPv4 address, also for its IPv6 form, or the /64 network of an IPv6 address, or null for other text. */
export function sourceOf(text: string): string | null {
  const address = withoutPort(text).replace(/%.*$/, '');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return null;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.match(IPV4_AS_IPV6)) return parsed.toByteArray().slice(12).join('.');
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

const IPV4_AS_IPV6 = ipaddr.IPv6.parseCIDR('::ffff:0:0/96');

/** Removes the port that some proxies add: `192.0.2.1:5000`, `[2001:db8::1]:5000`. */
const withoutPort = (text: string): string =>
  /^([\d.]+):\d+$/.exec(text)?.[1] ?? /^\[(.+)\](:\d+)?$/.exec(text)?.[1] ?? text;
