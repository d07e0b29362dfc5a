import fc from 'fast-check';
import type { Sampling } from '../../../src/domain/chat/chat.js';
import { decodeHalves, encodeHalf } from '../../../src/infrastructure/onnx/onnx-runtime.js';
import { logprobOf } from '../../../src/infrastructure/onnx-chat/worker/logprobs.js';
import { Sampler } from '../../../src/infrastructure/onnx-chat/worker/sampler.js';

const sample = (scores: readonly number[], temperature: number, random?: () => number) =>
  new Sampler(temperature, {}, random).next(scores);

describe('the choice of a token', () => {
  it('is the best one at temperature 0', () => {
    expect(sample([1, 5, Number.NaN, 3, 5], 0)).toBe(1);
  });

  it('fails if no score is a number', () => {
    expect(() => sample([Number.NaN, Number.NEGATIVE_INFINITY], 0)).toThrow('it scored no token');
    expect(() => sample([], 1)).toThrow('it scored no token');
  });

  it('follows the probabilities at a temperature', () => {
    const scores = [Math.log(1), Math.log(2), Number.NEGATIVE_INFINITY, Math.log(5)];
    const draws = (temperature: number) => {
      const counts = [0, 0, 0, 0];
      for (let i = 0; i < 1_000; i++) {
        const token = sample(scores, temperature, () => (i + 0.5) / 1_000);
        counts[token] = (counts[token] ?? 0) + 1;
      }
      return counts;
    };
    expect(draws(1)).toEqual([125, 250, 0, 625]);
    expect(draws(0.5)).toEqual([33, 134, 0, 833]);
    expect(draws(1e-9)).toEqual([0, 0, 0, 1_000]);
  });

  it('never draws an impossible token, at the lowest and the highest random number', () => {
    expect(sample([Number.NEGATIVE_INFINITY, 2, Number.NaN], 1, () => 0)).toBe(1);
    expect(sample([Number.NEGATIVE_INFINITY, 2, Number.NaN], 1, () => 1)).toBe(1);
  });
});

/** Returns the token that a full sort of all probabilities gives. */
function drawnFrom(scores: readonly number[], topP: number, random: number): number {
  const highest = Math.max(...scores);
  const all = scores.map((score, token) => ({ token, weight: Math.exp(score - highest) }));
  const sum = all.reduce((total, { weight }) => total + weight, 0);
  const nucleus: typeof all = [];
  let mass = 0;
  for (const one of all.toSorted((a, b) => b.weight - a.weight || a.token - b.token)) {
    if (mass < topP * sum - 1e-9) nucleus.push(one);
    mass += one.weight;
  }
  let left = random * nucleus.reduce((total, { weight }) => total + weight, 0);
  const inOrder = nucleus.toSorted((a, b) => a.token - b.token);
  for (const { token, weight } of inOrder) {
    left -= weight;
    if (left < 0) return token;
  }
  return inOrder.at(-1)?.token as number;
}

describe('the sampling of an answer', () => {
  const chosen = (count: number, scores: readonly number[], sampling: Sampling, temperature = 0) => {
    const sampler = new Sampler(temperature, sampling);
    return Array.from({ length: count }, () => sampler.next(scores));
  };

  it('draws from the smallest set of the likeliest tokens that together have the probability top_p', () => {
    const scores = fc.array(fc.integer({ min: -6, max: 6 }), { minLength: 1, maxLength: 30 });
    const share = fc.integer({ min: 1, max: 999 }).map((n) => n / 1_000 + 1e-5);
    fc.assert(
      fc.property(scores, share, share, (some, topP, random) => {
        expect(new Sampler(1, { topP }, () => random).next(some)).toBe(drawnFrom(some, topP, random));
        expect(new Sampler(1, { topP: 0 }, () => random).next(some)).toBe(some.indexOf(Math.max(...some)));
      }),
      { numRuns: 500 },
    );
  });

  it('draws only the top_k likeliest tokens, and those with min_p of the probability of the likeliest', () => {
    const scores = fc.array(fc.integer({ min: -40, max: 40 }), { minLength: 1, maxLength: 60 });
    const inOrder = (some: readonly number[]) =>
      some.map((score, token) => ({ score, token })).sort((a, b) => b.score - a.score || a.token - b.token);
    fc.assert(
      fc.property(scores, fc.integer({ min: 1, max: 70 }), fc.double({ min: 0, max: 0.999 }), (some, topK, random) => {
        const likeliest = inOrder(some.map((score) => score / 8)).slice(0, topK);
        const drawn = new Sampler(1, { topK }, () => random).next(some.map((score) => score / 8));
        expect(likeliest.map(({ token }) => token)).toContain(drawn);
      }),
      { numRuns: 500 },
    );
    const far = [0, Math.log(0.5), Math.log(0.25)];
    const drawnWith = (minP: number) =>
      new Set(Array.from({ length: 100 }, (_, n) => new Sampler(1, { minP }, () => n / 100).next(far)));
    expect([drawnWith(0.2), drawnWith(0.4), drawnWith(1)].map(({ size }) => size)).toEqual([3, 2, 1]);
  });

  it('makes tokens of the prompt and of the answer less likely with a repetition_penalty', () => {
    const sampler = new Sampler(0, { repetitionPenalty: 2 }, undefined, [0]);
    const scores = [4, 3, -1, -1.5];
    expect(Array.from({ length: 3 }, () => sampler.next(scores))).toEqual([1, 0, 0]);
    expect(new Sampler(0, { repetitionPenalty: 2 }, undefined, [2]).next([-9, -9, -1, -1.5])).toBe(3);
  });

  it('draws the same again with the same seed, and draws evenly', () => {
    const even = new Array<number>(16).fill(0);
    const draws = (seed: number) => chosen(1_600, even, { seed }, 1);
    expect(draws(7)).toEqual(draws(7));
    const seeds = [0, 1, -1, 2 ** 31, 2 ** 32, 2 ** 33, -(2 ** 40), Number.MAX_SAFE_INTEGER];
    expect(new Set(seeds.map((seed) => draws(seed).slice(0, 20).join())).size).toBe(seeds.length);
    const counts = even.map((_, token) => draws(7).filter((one) => one === token).length);
    for (const count of counts) expect(Math.abs(count - 100)).toBeLessThan(40);
  });

  it('forces and forbids tokens by their bias', () => {
    expect(chosen(2, [9, 1, 3], { logitBias: { 0: -100 } })).toEqual([2, 2]);
    expect(chosen(2, [9, 1, 3], { logitBias: { 1: 100, 7: 100 } })).toEqual([1, 1]);
    expect(new Set(chosen(99, [0, 0, 0], { logitBias: { 1: -100 } }, 2))).toEqual(new Set([0, 2]));
  });

  it('makes tokens of the answer less likely, once or with each occurrence', () => {
    const scores = [1, 0.25, -0.3];
    expect(chosen(4, scores, { presencePenalty: 1 })).toEqual([0, 1, 0, 0]);
    expect(chosen(6, scores, { frequencyPenalty: 0.5 })).toEqual([0, 0, 1, 0, 1, 2]);
    expect(chosen(3, scores, { presencePenalty: 1, frequencyPenalty: 0.5 })).toEqual([0, 1, 2]);
    expect(chosen(3, [1, 0.9], { frequencyPenalty: -1 })).toEqual([0, 0, 0]);
  });

  it('reads each score once if only the best token is needed', () => {
    let reads = 0;
    const get = (scores: number[], at: string | symbol) => {
      if (Number.isInteger(Number(at))) reads += 1;
      return Reflect.get(scores, at);
    };
    const noting = new Proxy([1, 4, 2], { get });
    expect(chosen(1, noting, { topP: 0.5, seed: 1 })).toEqual([1]);
    expect(reads).toBe(3);
  });
});

describe('the probabilities of tokens', () => {
  it('are computed from all scores, and the likeliest tokens come first', () => {
    const scores = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(scores, fc.nat(20), (some, count) => {
        const sum = some.reduce((total, score) => total + Math.exp(score), 0);
        const plain = some.map((score, token) => ({ token, logprob: score - Math.log(sum) }));
        const { bytes, logprob, top } = logprobOf(some, 1, count, (token) => [token]);
        expect(bytes).toEqual([1]);
        expect(logprob).toBeCloseTo(plain[1]?.logprob as number, 9);
        const likeliest = plain.toSorted((a, b) => b.logprob - a.logprob || a.token - b.token).slice(0, count);
        expect(top.map(({ bytes }) => bytes[0])).toEqual(likeliest.map(({ token }) => token));
        for (const [i, one] of top.entries()) expect(one.logprob).toBeCloseTo(likeliest[i]?.logprob as number, 9);
      }),
    );
  });

  it('are numbers for impossible tokens, too', () => {
    const scores = [Number.NEGATIVE_INFINITY, 1_000, Number.NaN];
    const { logprob, token, top } = logprobOf(scores, 0, 5, () => [0xc3]);
    expect({ logprob, token, top }).toEqual({
      logprob: -9_999,
      token: '\uFFFD',
      top: [expect.objectContaining({ logprob: 0 })],
    });
    expect(logprobOf(scores, 1, 0, () => [])).toMatchObject({ logprob: 0, top: [] });
  });
});

describe('half-precision numbers', () => {
  const all = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
  const numbers = decodeHalves(all);

  const wrong = (holds: (bits: number) => boolean, end: number) =>
    Array.from({ length: end }, (_, bits) => bits).filter((bits) => !holds(bits));

  it('stay the same when they are decoded and encoded', () => {
    const back = (bits: number) => Number.isNaN(numbers[bits]) || encodeHalf(numbers[bits] as number) === bits;
    expect(wrong(back, 65_536)).toEqual([]);
    expect(decodeHalves(Uint16Array.of(encodeHalf(Number.NaN)))[0]).toBeNaN();
  });

  it('are rounded to the nearest one, and halfway to the even one', () => {
    const nearest = (bits: number) => {
      const [low, high] = [numbers[bits] as number, numbers[bits + 1] as number];
      const middle = (low + high) / 2;
      const little = (high - low) / 64;
      const even = encodeHalf(middle) === (bits % 2 === 0 ? bits : bits + 1);
      return even && encodeHalf(middle - little) === bits && encodeHalf(-middle - little) === ((bits + 1) | 0x8000);
    };
    expect(wrong(nearest, 0x7bff)).toEqual([]);
  });

  it('are read from their bits', () => {
    const bits = Uint16Array.of(0x0000, 0x8000, 0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001, 0x03ff, 0x7c00, 0xfc00, 0x7e00);
    const numbers = [...decodeHalves(bits)];
    expect(numbers[4]).toBeCloseTo(1 / 3, 3);
    expect(numbers.toSpliced(4, 1)).toEqual([
      0,
      -0,
      1,
      -2,
      65_504,
      2 ** -24,
      Math.fround(1_023 * 2 ** -24),
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
    ]);
  });
});
