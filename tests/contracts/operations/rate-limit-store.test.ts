import { MemoryRateLimitStore } from '../../../src/infrastructure/rate-limit/memory-rate-limit-store.js';
import { SlidingWindow } from '../../../src/infrastructure/rate-limit/sliding-window.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { rateLimitStoreContract } from './rate-limit-store.contract.js';

const opened = () => {
  const clock = new ManualClock();
  return { clock, store: new MemoryRateLimitStore(clock), advance: (ms: number) => clock.advance(ms) };
};

rateLimitStoreContract('memory', async () => opened());

describe('MemoryRateLimitStore', () => {
  const limit = { policy: 'default', limit: 3 } as const;
  const alice = { kind: 'credential', value: 'alice' } as const;

  it('keeps the waits short when the clock is set back by an hour', async () => {
    const { clock, store } = opened();
    const seconds = async () => (await store.take(alice, [limit], 1)).quotas[0]?.seconds;
    for (let n = 0; n < 3; n++) await seconds();
    clock.advance(30_000);
    expect(await seconds()).toBe(30);
    clock.advance(-3_600_000);
    expect(await seconds()).toBe(30);
    clock.advance(29_000);
    expect(await seconds()).toBe(1);
    clock.advance(1_000);
    expect((await store.take(alice, [limit], 1)).admitted).toBe(true);
  });

  it('limits the size of its table when 100,500 addresses call, and does not forget a known caller', async () => {
    const { clock, store } = opened();
    const stranger = (value: string) => store.take({ kind: 'address', value }, [limit], 1);
    for (let n = 0; n < 3; n++) await store.take(alice, [limit], 1);
    for (let n = 0; n < 100_500; n++) {
      const address = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
      if (!(await stranger(address)).admitted) throw new Error(`${address} was refused`);
    }
    expect(store.size).toBeLessThanOrEqual(100_001);
    expect(await store.take(alice, [limit], 1)).toMatchObject({ admitted: false, quotas: [{ seconds: 60 }] });
    clock.advance(120_000);
    await stranger('a');
    clock.advance(60_000);
    await stranger('a');
    expect(store.size).toBeLessThan(10);
  });
});

describe('the sliding window', () => {
  it('keeps only the last minute of hours of calls, also if nobody asks for the counts', () => {
    const window = new SlidingWindow();
    let most = 0;
    for (let now = 0; now < 3 * 3_600_000; now += 250) {
      window.add(now);
      most = Math.max(most, window.size);
    }
    expect(most).toBeLessThanOrEqual(2 * 121); // a time and a number for each half second
    window.add(4 * 3_600_000);
    expect(window.size).toBe(2);
  });

  it('counts a call for exactly 60,000 ms', () => {
    const window = new SlidingWindow();
    window.add(1_234);
    expect(window.used(61_233)).toBe(1);
    expect(window.msUntilMoreRoom(61_233)).toBe(1);
    expect(window.used(61_234)).toBe(0);
    expect(window.msUntilMoreRoom(61_234)).toBe(0);
  });

  it('counts at least the calls of the last 60 seconds, and at most those of the last 60.5 seconds', () => {
    const window = new SlidingWindow();
    const calls: number[] = [];
    // The steps between calls are 1 to 900 ms long.
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
