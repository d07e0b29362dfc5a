import type { Histogram, Usage } from '../../../domain/jobs/usage.js';

/**
 * Calls, tokens in and out, failures, latency, first token, cost: the names would be longer than most figures. The cost is
 * missing without prices, and in rows of earlier versions.
 */
type StoredSums = [number, number, number, Usage['failures'], Histogram, Histogram, string?];

export function storedOf({ calls, tokensIn, tokensOut, failures, latency, firstToken, cost }: Usage): StoredSums {
  return [
    calls,
    tokensIn,
    tokensOut,
    failures,
    latency,
    firstToken,
    ...(cost === null ? [] : [String(cost)]),
  ] as StoredSums;
}

export function usageOf(sums: object): Usage {
  const [calls, tokensIn, tokensOut, failures, latency, firstToken, cost] = sums as StoredSums;
  return { calls, tokensIn, tokensOut, failures, latency, firstToken, cost: cost === undefined ? null : BigInt(cost) };
}
