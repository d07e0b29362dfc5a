import { type Finding, InvalidRequest } from '../shared/errors.js';
import type { Json, JsonObject } from '../workspace/json.js';
import { costText, type Nanos, nanosOfNumber } from './cost.js';

/** The prices of a call. Tokens have a price for a million. */
export interface Prices {
  readonly input: Nanos;
  readonly cachedInput: Nanos;
  readonly output: Nanos;
  readonly perCall: Nanos;
  readonly perSecond: Nanos;
}

/** The figures of a call that has a price. */
export interface PricedCall {
  readonly tokensIn: number | null;
  /** Those of `tokensIn` that the model had in its cache. */
  readonly tokensCached?: number;
  readonly tokensOut: number | null;
  readonly milliseconds: number;
}

export const priceLimits = { most: 1_000_000, places: 9 } as const;

const modelFields = ['input', 'output', 'cached_input', 'per_call'] as const;
const deploymentFields = ['per_call', 'per_second'] as const;
type PriceField = (typeof modelFields)[number] | (typeof deploymentFields)[number];

/** The prices of a deployment as a caller sends and reads them. */
export interface DeploymentPrices {
  readonly perCall: number | null;
  readonly perSecond: number | null;
}

const MILLION = 1_000_000n;

export const Prices = {
  /** Throws InvalidRequest if the spec of a model has prices that nobody can charge. */
  requireValid({ prices }: JsonObject): void {
    const findings = prices === undefined || prices === null ? [] : findingsOf(prices, 'spec.prices', modelFields);
    if (findings.length > 0) throw new InvalidRequest(findings);
  },

  /** Returns the prices in the spec of a model. Returns null without valid prices. */
  ofModel({ prices }: JsonObject): Prices | null {
    if (!isObject(prices) || findingsOf(prices, '', modelFields).length > 0) return null;
    const input = nanosIn(prices, 'input');
    const cachedInput = isAbsent(prices.cached_input) ? input : nanosIn(prices, 'cached_input');
    const output = nanosIn(prices, 'output');
    return { input, cachedInput, output, perCall: nanosIn(prices, 'per_call'), perSecond: 0n };
  },

  /** Throws InvalidRequest. Returns null if there is no price. */
  deployment(sent: DeploymentPrices | null): DeploymentPrices | null {
    if (sent === null) return null;
    const findings = findingsOf({ per_call: sent.perCall, per_second: sent.perSecond }, 'prices', deploymentFields);
    if (findings.length > 0) throw new InvalidRequest(findings);
    return sent.perCall === null && sent.perSecond === null ? null : sent;
  },

  ofDeployment(prices: DeploymentPrices | null): Prices | null {
    if (!prices) return null;
    const [perCall, perSecond] = [nanosOfPrice(prices.perCall ?? 0), nanosOfPrice(prices.perSecond ?? 0)];
    return { input: 0n, cachedInput: 0n, output: 0n, perCall, perSecond };
  },

  /** Returns prices that are nowhere below the given ones. Null: none are given. */
  dearest(all: readonly Prices[]): Prices | null {
    const highest = (a: Nanos, b: Nanos): Nanos => (a > b ? a : b);
    return all.reduce<Prices | null>((dearest, one) => {
      if (!dearest) return one;
      return {
        input: highest(dearest.input, one.input),
        cachedInput: highest(dearest.cachedInput, one.cachedInput),
        output: highest(dearest.output, one.output),
        perCall: highest(dearest.perCall, one.perCall),
        perSecond: highest(dearest.perSecond, one.perSecond),
      };
    }, null);
  },

  /** Returns the cost of a call. It is exact, and rounded half up once, to nine places. */
  nanos(prices: Prices, { tokensIn, tokensCached = 0, tokensOut, milliseconds }: PricedCall): Nanos {
    const all = tokensIn ?? 0;
    const cached = Math.min(all, tokensCached);
    const tokens =
      BigInt(all - cached) * prices.input +
      BigInt(cached) * prices.cachedInput +
      BigInt(tokensOut ?? 0) * prices.output;
    const time = BigInt(milliseconds) * prices.perSecond * 1_000n;
    return (tokens + time + prices.perCall * MILLION + MILLION / 2n) / MILLION;
  },

  /** Returns the cost of a call as text with nine decimal places. */
  cost: (prices: Prices, call: PricedCall): string => costText(Prices.nanos(prices, call)),
};

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Takes only numbers that `findingsOf` has checked. */
const nanosOfPrice = (value: number): Nanos => nanosOfNumber(value) ?? 0n;

const nanosIn = (prices: JsonObject, field: PriceField): Nanos =>
  isAbsent(prices[field]) ? 0n : nanosOfPrice(prices[field] as number);

function findingsOf(prices: Json, path: string, fields: readonly PriceField[]): Finding[] {
  if (!isObject(prices)) return [{ path, message: 'must be an object with prices' }];
  const unknown = Object.keys(prices).filter((field) => !fields.some((known) => known === field));
  const findings = unknown.map((field) => ({
    path: `${path}.${field}`,
    message: `is no price: there are ${fields.join(', ')}`,
  }));
  for (const field of fields) {
    const value = prices[field];
    const isRequired = field === 'input' || field === 'output';
    if (isAbsent(value) ? isRequired : !isPrice(value))
      findings.push({
        path: `${path}.${field}`,
        message: `must be a number from 0 to ${priceLimits.most} with at most ${priceLimits.places} decimal places`,
      });
  }
  return findings;
}

const isPrice = (value: Json | undefined): boolean =>
  typeof value === 'number' && value >= 0 && value <= priceLimits.most && nanosOfNumber(value) !== null;
