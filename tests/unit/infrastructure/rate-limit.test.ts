import { SlidingWindow, WindowTable } from '../../../src/infrastructure/rate-limit/memory-rate-limit-store.js';

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

  it('keeps a few numbers for a few calls, and no more than 242 for however many', () => {
    const window = new SlidingWindow();
    window.add(0);
    expect(window.size).toBe(2);
    for (let now = 0; now < 180_000; now += 10) {
      window.used(now);
      window.add(now);
    }
    expect(window.size).toBeLessThanOrEqual(242);
  });
});

describe('the table of windows', () => {
  it('has at most so many, and forgets first who called the longest ago', () => {
    const callers = new WindowTable(10);
    const faithful = callers.of('faithful', 0);
    const once = callers.of('once', 0);
    for (let n = 0; n < 1_000; n++) {
      callers.of(`stranger ${n}`, 0);
      expect(callers.of('faithful', 0)).toBe(faithful);
      expect(callers.size).toBeLessThanOrEqual(10);
    }
    expect(callers.of('once', 0)).not.toBe(once);
  });

  it('remembers everybody for a minute, and nobody for long', () => {
    const callers = new WindowTable(1_000);
    const kept = new Map<string, { at: number; what: object }>();
    for (let now = 0; now < 300_000; now += 1_700) {
      for (const [key, { at, what }] of kept) {
        if (now - at < 60_000 && at % 3 === 0) expect(callers.of(key, now)).toBe(what);
        else if (now - at < 60_000) continue;
        kept.delete(key);
      }
      kept.set(`at ${now}`, { at: now, what: callers.of(`at ${now}`, now) });
    }
    expect(callers.size).toBeLessThan(150);
    callers.of('late', 1_000_000);
    callers.of('later', 1_060_000);
    expect(callers.size).toBe(2);
  });
});
