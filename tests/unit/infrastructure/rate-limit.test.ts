import { SlidingWindow } from '../../../src/infrastructure/rate-limit/memory-rate-limit-store.js';

describe('the sliding window', () => {
  it('keeps a call for 60 seconds to the millisecond', () => {
    const window = new SlidingWindow();
    window.add(1_234);
    expect(window.used(61_233)).toBe(1);
    expect(window.msUntilMoreRoom(61_233)).toBe(1);
    expect(window.used(61_234)).toBe(0);
    expect(window.msUntilMoreRoom(61_234)).toBe(0);
  });

  it('agrees with a list of all calls to half a second, and never counts less', () => {
    const window = new SlidingWindow();
    const calls: number[] = [];
    // An even but restless pace: steps of 1 to 900 ms over four minutes.
    for (let now = 0, step = 7; now < 240_000; now += step) {
      step = (step * 31) % 901 || 1;
      window.add(now);
      calls.push(now);
      const within = (ms: number) => calls.filter((call) => call > now - ms).length;
      expect(window.used(now)).toBeGreaterThanOrEqual(within(60_000));
      expect(window.used(now)).toBeLessThanOrEqual(within(60_500));
    }
  });
});
