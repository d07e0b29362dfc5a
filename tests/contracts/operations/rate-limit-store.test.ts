import { MemoryRateLimitStore } from '../../../src/infrastructure/rate-limit/memory-rate-limit-store.js';
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

  it('goes on where it was when the clock is set back: nobody waits hours for it to catch up', async () => {
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

  it('cannot be flooded: 200,000 strangers fill a bounded table and leave known callers alone', async () => {
    const { clock, store } = opened();
    const stranger = (value: string) => store.take({ kind: 'address', value }, [limit], 1);
    for (let n = 0; n < 3; n++) await store.take(alice, [limit], 1);
    for (let n = 0; n < 200_000; n++) {
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
