import type { Quota } from '../../../application/operations/ports.js';
import { HttpRefusal } from '../refusals.js';

/** Returns the quota with the least that remains; of two alike, the one with the longer wait. */
export const tightest = (quotas: readonly Quota[]): Quota =>
  quotas.reduce((tight, one) =>
    one.remaining < tight.remaining || (one.remaining === tight.remaining && one.seconds > tight.seconds) ? one : tight,
  );

/** Tells the caller's quotas in the form of the IETF draft and in OpenAI's. */
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

/** `12s`, `1m0s`. */
const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;

const LIMITED = { default: 'requests', auth: 'registrations and logins' } as const;

export function rateLimited({ policy, limit, seconds }: Quota): HttpRefusal {
  const message = `The limit is ${limit} ${LIMITED[policy]} per minute: try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return new HttpRefusal('rate_limited', message, { 'Retry-After': String(seconds) });
}

const integer = { type: 'integer' } as const;
const string = { type: 'string' } as const;

/** Describes the same headers for the OpenAPI document. */
export const documentedHeaders = {
  'RateLimit-Policy': { schema: string, description: 'Each limit that applies: `q` requests within `w` seconds.' },
  RateLimit: { schema: string, description: 'Of each limit: `r` requests remain, and in `t` seconds more will.' },
  'x-ratelimit-limit-requests': { schema: integer, description: 'The limit of which the least remains.' },
  'x-ratelimit-remaining-requests': { schema: integer, description: 'What remains of it.' },
  'x-ratelimit-reset-requests': { schema: string, description: 'When more of it remains: `12s`, `1m0s`.' },
} as const;
