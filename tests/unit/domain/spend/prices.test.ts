import { costText, nanosOf, nanosOfCost, nanosOfNumber } from '../../../../src/domain/spend/cost.js';
import { Prices } from '../../../../src/domain/spend/prices.js';
import type { JsonObject } from '../../../../src/domain/workspace/json.js';
import { Draw } from '../../../support/draw.js';

const prices = (spec: object) => Prices.ofModel({ prices: spec as never }) as Prices;
const call = (tokensIn: number, tokensOut: number, tokensCached = 0) => ({
  tokensIn,
  tokensOut,
  tokensCached,
  milliseconds: 0,
});

describe('a cost', () => {
  it.each([
    ['0', '0.000000000'],
    ['12.5', '12.500000000'],
    ['-0.000000001', '-0.000000001'],
    ['123456789012345.999999999', '123456789012345.999999999'],
  ])('%s has nine decimal places', (text, expected) => {
    expect(costText(nanosOf(text) as bigint)).toBe(expected);
    expect(nanosOfCost(expected)).toBe(nanosOf(text));
  });

  it.each(['', '.5', '1.', '1.0000000001', '1e3', 'NaN', ' 1'])('cannot be read from %j', (text) => {
    expect(nanosOf(text)).toBeNull();
  });

  it('is read from a number by its shortest text', () => {
    expect([0.1, 1e-7, 2.5e-8, 12, 1_000_000].map(nanosOfNumber)).toEqual([
      100_000_000n,
      100n,
      25n,
      12_000_000_000n,
      1_000_000_000_000_000n,
    ]);
    expect([1e-10, 0.1 + 0.2, Number.NaN, Number.POSITIVE_INFINITY].map(nanosOfNumber)).toEqual(Array(4).fill(null));
  });
});

describe('the cost of a call', () => {
  it.each([
    [{ input: 3, output: 15 }, call(1_000, 200), '0.006000000'],
    [{ input: 0.15, cached_input: 0.075, output: 0.6 }, call(1_000, 0, 400), '0.000120000'],
    [{ input: 1, output: 1 }, call(10, 0, 99), '0.000010000'],
    [{ input: 0, output: 0, per_call: 0.000000001 }, call(1, 1), '0.000000001'],
    [{ input: 999_999.999999998, output: 0 }, call(12_345_679, 0), '12345678.999999975'],
    [{ input: 0.0005, output: 0 }, call(1, 0), '0.000000001'],
    [{ input: 0.000499999, output: 0 }, call(1, 0), '0.000000000'],
    [{ input: 0.0005, output: 0.0005 }, call(1, 1), '0.000000001'],
  ])('by %j is exact, and rounded half up once: %#', (spec, figures, expected) => {
    expect(Prices.cost(prices(spec), figures)).toBe(expected);
  });

  it('counts the time of a prediction in milliseconds', () => {
    const ofDeployment = Prices.ofDeployment({ perCall: 0.1, perSecond: 0.000000003 }) as Prices;
    expect(Prices.cost(ofDeployment, { tokensIn: null, tokensOut: null, milliseconds: 1_500 })).toBe('0.100000005');
  });

  it('adds up to the same sum in any order, which doubles do not', () => {
    const draw = new Draw(7);
    const ofModel = prices({ input: 0.1, cached_input: 0.07, output: 0.3 });
    const costs = Array.from({ length: 2_000 }, () =>
      Prices.nanos(ofModel, call(draw.below(9_000), draw.below(900), draw.below(99))),
    );
    const sum = (parts: readonly bigint[]) => parts.reduce((total, part) => total + part, 0n);
    const texts = costs.map(costText);
    expect(sum(texts.map(nanosOfCost))).toBe(sum(costs.toReversed()));
  });
});

describe('prices in the spec of a model', () => {
  it.each([
    [5, 'spec.prices: must be an object'],
    [{ output: 1 }, 'spec.prices.input: must be a number from 0'],
    [{ input: '1', output: 1 }, 'spec.prices.input: must be a number from 0'],
    [{ input: -1, output: 1 }, 'spec.prices.input: must be a number from 0'],
    [{ input: 1, output: 1_000_001 }, 'spec.prices.output: must be a number from 0 to 1000000'],
    [{ input: 1, output: 1, per_call: 1e-10 }, 'spec.prices.per_call: must be a number'],
    [{ input: 1, output: 1, per_second: 1 }, 'spec.prices.per_second: is no price'],
  ])('%j are refused', (spec, message) => {
    expect(() => Prices.requireValid({ prices: spec as never })).toThrow(message);
    expect(Prices.ofModel({ prices: spec as never })).toBeNull();
  });

  it('may be absent', () => {
    for (const spec of [{}, { prices: null }] as JsonObject[]) {
      expect(() => Prices.requireValid(spec)).not.toThrow();
      expect(Prices.ofModel(spec)).toBeNull();
    }
  });
});
