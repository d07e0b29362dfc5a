import { sample } from '../../../src/infrastructure/chat-engine/worker/decoder.js';
import { decodeHalves, encodeHalf } from '../../../src/infrastructure/onnx/onnx-runtime.js';

describe('the choice of a token', () => {
  it('is the best one at temperature 0', () => {
    expect(sample([1, 5, Number.NaN, 3, 5], 0)).toBe(1);
  });

  it('is refused where no score is a number', () => {
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

  it('never draws what can not be, at either end of chance', () => {
    expect(sample([Number.NEGATIVE_INFINITY, 2, Number.NaN], 1, () => 0)).toBe(1);
    expect(sample([Number.NEGATIVE_INFINITY, 2, Number.NaN], 1, () => 1)).toBe(1);
  });
});

describe('half-precision numbers', () => {
  const all = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
  const numbers = decodeHalves(all);

  const wrong = (holds: (bits: number) => boolean, end: number) =>
    Array.from({ length: end }, (_, bits) => bits).filter((bits) => !holds(bits));

  it('come back from their values', () => {
    const back = (bits: number) => Number.isNaN(numbers[bits]) || encodeHalf(numbers[bits] as number) === bits;
    expect(wrong(back, 65_536)).toEqual([]);
    expect(decodeHalves(Uint16Array.of(encodeHalf(Number.NaN)))[0]).toBeNaN();
  });

  it('are the nearest ones, halfway the even one', () => {
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
