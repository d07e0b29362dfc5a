import type { RateLimit, RateLimitKey, RateLimitStore } from '../../../src/application/operations/ports.js';

export interface RateLimitStoreUnderTest {
  readonly store: RateLimitStore;
  /** Moves the clock of the store. Waits instead if a test cannot move this clock. */
  readonly advance: (ms: number) => void | Promise<void>;
}

const alice: RateLimitKey = { kind: 'credential', value: 'alice' };
const stranger: RateLimitKey = { kind: 'address', value: '192.0.2.1' };
const three: RateLimit = { policy: 'default', limit: 3 };
const two: RateLimit = { policy: 'auth', limit: 2 };

/** Tests the promises of RateLimitStore on an adapter. */
export function rateLimitStoreContract(name: string, open: () => Promise<RateLimitStoreUnderTest>): void {
  describe(`RateLimitStore: ${name}`, () => {
    let store: RateLimitStore;
    let advance: RateLimitStoreUnderTest['advance'];
    beforeEach(async () => {
      ({ store, advance } = await open());
    });

    const take = async (key: RateLimitKey, limits: readonly RateLimit[] = [three]) => store.take(key, limits, 1);
    const admitted = async (key = alice) => (await take(key)).admitted;

    it('admits calls up to the limit, and more when earlier calls leave the window', async () => {
      expect([await admitted(), await admitted()]).toEqual([true, true]);
      await advance(20_000);
      expect([await admitted(), await admitted()]).toEqual([true, false]);
      await advance(39_999);
      expect(await admitted()).toBe(false);
      await advance(1);
      expect([await admitted(), await admitted(), await admitted()]).toEqual([true, true, false]);
      await advance(20_000);
      expect([await admitted(), await admitted()]).toEqual([true, false]);
    });

    it('admits no more concurrent calls than the limit', async () => {
      const verdicts = await Promise.all(Array.from({ length: 10 }, () => admitted()));
      expect(verdicts.filter(Boolean)).toHaveLength(3);
    });

    it('counts each key separately, also a credential and an address with the same text', async () => {
      for (let n = 0; n < 3; n++) await take(alice);
      expect(await admitted()).toBe(false);
      expect(await admitted({ ...alice, kind: 'address' })).toBe(true);
      expect(await admitted({ ...alice, value: 'bob' })).toBe(true);
    });

    it('names the true wait: a refused call costs nothing, and a call after the wait is admitted', async () => {
      const many: RateLimit = { policy: 'default', limit: 20 };
      for (let n = 0; n < 20; n++) {
        expect((await take(alice, [many])).admitted).toBe(true);
        await advance(537);
      }
      for (let n = 0; n < 50; n++) {
        const { admitted, quotas } = await take(alice, [many]);
        if (admitted) continue;
        const [{ remaining, seconds }] = quotas as [RateLimit & { remaining: number; seconds: number }];
        expect(remaining).toBe(0);
        expect(seconds).toBeGreaterThanOrEqual(1);
        expect(seconds).toBeLessThanOrEqual(60);
        await take(alice, [many]);
        await advance(seconds * 1000 - 1_000);
        expect((await take(alice, [many])).admitted).toBe(false);
        await advance(1_000);
        expect((await take(alice, [many])).admitted).toBe(true);
      }
    });

    it('counts a call against all limits or none, and returns the quotas in the order of the limits', async () => {
      expect((await take(stranger, [three, two])).quotas).toEqual([
        { policy: 'default', limit: 3, remaining: 2, seconds: 60 },
        { policy: 'auth', limit: 2, remaining: 1, seconds: 60 },
      ]);
      await advance(10_000);
      await take(stranger, [three, two]);
      const refused = await take(stranger, [three, two]);
      expect(refused.admitted).toBe(false);
      expect(refused.quotas).toEqual([
        { policy: 'default', limit: 3, remaining: 1, seconds: 50 },
        { policy: 'auth', limit: 2, remaining: 0, seconds: 50 },
      ]);
      expect((await take(stranger)).admitted).toBe(true);
      expect(await take(stranger)).toMatchObject({ admitted: false, quotas: [{ remaining: 0, seconds: 50 }] });
    });

    it('returns the quotas without counting a call', async () => {
      const untouched = { admitted: true, quotas: [{ policy: 'default', limit: 3, remaining: 3, seconds: 0 }] };
      expect(await store.take(alice, [three], 0)).toEqual(untouched);
      for (let n = 0; n < 3; n++) await take(alice);
      const used = { admitted: true, quotas: [{ policy: 'default', limit: 3, remaining: 0, seconds: 60 }] };
      expect(await store.take(alice, [three], 0)).toEqual(used);
      expect(await store.take(alice, [three], 0)).toEqual(used);
    });
  });
}
