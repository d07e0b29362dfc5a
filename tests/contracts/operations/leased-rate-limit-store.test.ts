import type { RateLimit, RateLimitKey } from '../../../src/application/operations/ports.js';
import { gate } from '../../support/barrier.js';
import { query } from '../../support/database.js';
import type { RecordingLog } from '../../support/recording-log.js';
import { SharedRateLimits, type SharedStore } from '../../support/shared-rate-limits.js';
import { rateLimitStoreContract } from './rate-limit-store.contract.js';

const LIMIT = 120;
/** The calls that an instance may admit before it asks. */
const UNASKED = 1;
const all: RateLimit = { policy: 'default', limit: LIMIT };
const auth: RateLimit = { policy: 'auth', limit: 20 };
const alice: RateLimitKey = { kind: 'credential', value: 'alice' };
const callers = (count: number) =>
  Array.from({ length: count }, (_, nth): RateLimitKey => ({ kind: 'credential', value: `caller ${nth}` }));
const events = ({ lines }: RecordingLog) => lines.map(({ event }) => event);
const address: RateLimitKey = { kind: 'address', value: '192.0.2.1' };

describe('rate limits in PostgreSQL', () => {
  let shared: SharedRateLimits;
  /** Three instances. */
  let stores: SharedStore[];
  beforeAll(async () => {
    shared = await SharedRateLimits.open();
  });
  afterAll(() => shared.close());
  beforeEach(async () => {
    await shared.empty();
    await started(3);
  });

  afterEach(() => tell()); // so that nothing is told in the next test

  rateLimitStoreContract('PostgreSQL', async () => {
    const { store } = stores[0] as SharedStore;
    return { store, advance: (ms) => shared.advance(ms) };
  });

  const take = async (nth: number, limits = [all], key = alice) =>
    (stores[nth] as SharedStore).store.take(key, limits, 1);
  /** Starts so many instances. */
  async function started(instances: number): Promise<void> {
    await shared.report(instances);
    stores = Array.from({ length: instances }, () => shared.store());
    await Promise.all(stores.map(({ store }) => store.countInstances()));
  }

  const tell = () => Promise.all(stores.map(({ store }) => store.tell('all')));
  const statements = () => stores.reduce((sum, { ledger }) => sum + ledger.statements, 0);

  /** Makes calls at the instances that `at` names, one after another. Returns how many are admitted. */
  async function admitted(calls: number, at: (nth: number) => number, limits = [all]): Promise<number> {
    let count = 0;
    for (let nth = 0; nth < calls; nth++) if ((await take(at(nth) % stores.length, limits)).admitted) count++;
    return count;
  }

  it('admits exactly the limit to a caller that stays at one instance', async () => {
    expect(await admitted(150, () => 0)).toBe(LIMIT);
    expect(await admitted(50, (nth) => nth)).toBeLessThanOrEqual(2 * UNASKED);
    expect(await admitted(50, (nth) => nth)).toBe(0);
  });

  it('admits the limit, and 95 % of it at once, to a caller that goes around', async () => {
    const atOnce = await admitted(200, (nth) => nth);
    expect(atOnce).toBeGreaterThanOrEqual(0.95 * LIMIT);
    await tell();
    await shared.advance(6_000);
    const count = atOnce + (await admitted(20, (nth) => nth));
    expect(count).toBeGreaterThanOrEqual(LIMIT);
    expect(count).toBeLessThanOrEqual(LIMIT + 3 * UNASKED);
  });

  it.each([1, 39, 40, 41, 99])('never exceeds a limit of %i, with calls at all instances at once', async (limit) => {
    const limits = [{ ...all, limit }];
    const verdicts = await Promise.all(Array.from({ length: 3 * limit + 30 }, (_, nth) => take(nth % 3, limits)));
    let count = verdicts.filter((one) => one.admitted).length;
    expect(count).toBeGreaterThanOrEqual(limit < 40 ? limit : Math.ceil(0.95 * limit));
    await tell();
    await shared.advance(6_000); // the leases end
    count += await admitted(limit + 10, (nth) => nth, limits);
    expect(count).toBe(limit);
  });

  it('admits 95 % at once to a caller that changes its instance after each third of the limit', async () => {
    const count = await admitted(200, (nth) => Math.floor(nth / 40));
    expect(count).toBeGreaterThanOrEqual(0.95 * LIMIT);
    expect(count).toBeLessThanOrEqual(LIMIT + 3 * UNASKED);
  });

  it('exceeds the limit in no minute by more than 1 % for each instance, with pauses of all lengths', async () => {
    const times: number[] = [];
    for (let now = 0, step = 7; now < 200_000; now += step) {
      step = (step * 31) % 1_009;
      for (let n = 0; n < step % 8; n++) {
        if ((await take((step + n) % 3)).admitted) times.push(now);
      }
      if (step % 2 === 0) await tell();
      await shared.advance(step);
    }
    for (const [nth, time] of times.entries()) {
      expect(times.slice(0, nth + 1).filter((one) => one > time - 60_000).length).toBeLessThanOrEqual(
        LIMIT + 3 * UNASKED,
      );
    }
    expect(times.length).toBeGreaterThan(3 * 0.95 * LIMIT);
  });

  it.each([
    [5, 120],
    [10, 120],
    [10, 600],
    [30, 600],
  ])('lets %i instances exceed a limit of %i by at most 5 %', async (instances, limit) => {
    await started(instances);
    const calls: RateLimit[] = [{ policy: 'default', limit }];
    const count = await admitted(limit, () => 0, calls);
    expect(count).toBe(limit); // the other instances know nothing of these calls
    expect(await admitted(10 * instances, (nth) => nth, calls)).toBeLessThanOrEqual(0.05 * limit);
  });

  it('exceeds a limit by no more when calls leave the window slowly and the caller comes back again and again', async () => {
    await started(5);
    for (let nth = 0; nth < 6; nth++) {
      await take(0);
      await shared.advance(10_000);
    }
    expect(await admitted(LIMIT - 5, () => 0)).toBe(LIMIT - 5);
    let count = LIMIT - 5;
    for (let round = 0; round < 5; round++) {
      count += await admitted(4, (nth) => nth + 1);
      await tell();
      await shared.advance(10_100);
    }
    expect(count).toBeLessThanOrEqual(1.05 * LIMIT);
  });

  it('lets ten instances admit 95 % of a limit at once', async () => {
    await started(10);
    expect(await admitted(2 * LIMIT, (nth) => nth)).toBeGreaterThanOrEqual(0.95 * LIMIT);
  });

  it('admits no call before it asks, until it knows how many instances there are', async () => {
    await admitted(LIMIT, () => 0);
    stores[1] = shared.store();
    expect(await admitted(10, () => 1)).toBe(0);
  });

  it.each([1, 5, 20, 39])('is exact for a limit of %i', async (limit) => {
    expect(await admitted(3 * limit + 3, (nth) => nth, [{ policy: 'auth', limit }])).toBe(limit);
    await shared.advance(60_000);
    const calls = Array.from({ length: 60 }, (_, nth) => take(nth % 3, [{ policy: 'auth', limit }]));
    expect((await Promise.all(calls)).filter((one) => one.admitted)).toHaveLength(limit);
  });

  it('lets no call wait far from the limit', async () => {
    const { store, ledger } = stores[0] as SharedStore;
    await take(0);
    await tell(); // the lease is there
    const { opened, open } = gate();
    ledger.before = () => opened;
    expect((await store.take(alice, [all], 1)).admitted).toBe(true);
    expect((await store.take(address, [all], 1)).admitted).toBe(true);
    open();
    await tell();
  });

  it('renews the old leases of many callers with one statement, and keeps no list of these callers', async () => {
    const { store, ledger } = stores[0] as SharedStore;
    const limits: RateLimit[] = [{ policy: 'default', limit: 6_000 }];
    const calls = () => Promise.all(callers(20).map((key) => store.take(key, limits, 1)));
    await calls();
    await tell();
    await shared.advance(3_000);
    const before = ledger.statements;
    await calls();
    await store.tell(); // sends the renewals
    await calls();
    await store.take(callers(1)[0] as RateLimitKey, limits, 0); // has waited for them
    expect([ledger.statements, store.untoldSize]).toEqual([before + 1, 20]);
    await tell();
    expect(store.untoldSize).toBe(0);
  });

  it('makes few statements far from the limit', async () => {
    const many: RateLimit = { policy: 'default', limit: 6_000 };
    expect(await admitted(3_000, (nth) => nth, [many])).toBe(3_000);
    expect(statements()).toBeLessThan(150);
  });

  it('counts the calls of many callers with one statement', async () => {
    const { store, ledger } = stores[0] as SharedStore;
    const { opened, open } = gate();
    ledger.before = () => opened;
    const verdicts = callers(61).map((key) => store.take(key, [auth], 1));
    open();
    expect((await Promise.all(verdicts)).every((one) => one.admitted)).toBe(true);
    expect(ledger.statements).toBe(2); // the first caller does not wait for others
  });

  it('makes no statement for calls of a caller that is refused', async () => {
    await admitted(LIMIT, () => 0);
    await take(0);
    const before = statements();
    for (let n = 0; n < 100; n++) {
      expect(await take(0)).toMatchObject({ admitted: false, quotas: [{ remaining: 0 }] });
      expect(await stores[0]?.store.reached(alice, [all])).toMatchObject([{ remaining: 0 }]);
    }
    expect(statements()).toBe(before);
  });

  it('knows after its first call that a limit was reached on another instance', async () => {
    await admitted(LIMIT, () => 0);
    const [, { store }] = stores as [SharedStore, SharedStore];
    expect(await store.reached(alice, [all])).toBeNull();
    expect((await store.take(alice, [all], 1)).admitted).toBe(true);
    expect((await store.take(alice, [all], 1)).admitted).toBe(false);
    expect(await store.reached(alice, [all])).toMatchObject([{ remaining: 0 }]);
  });

  it('shows the calls of other instances in the quotas', async () => {
    await admitted(30, () => 0);
    await tell();
    const { quotas } = await (stores[1] as SharedStore).store.take(alice, [all, auth], 0);
    const [{ remaining, seconds }, other] = quotas as [{ remaining: number; seconds: number }, unknown];
    expect(remaining).toBeLessThanOrEqual(LIMIT - 30);
    expect(remaining).toBeGreaterThanOrEqual(LIMIT - 30 - LIMIT / 20);
    expect(seconds).toBe(60);
    expect(other).toEqual({ ...auth, remaining: 20, seconds: 0 });
  });

  it('returns the lease of a dead instance within seconds', async () => {
    await take(0);
    await tell();
    expect(await shared.rows()).toMatchObject([{ total: 1, leased: [3] }]);
    await take(0); // from the lease, and never told
    await shared.advance(1_000);
    stores[0] = shared.store(); // in place of the dead one
    expect(await admitted(LIMIT, () => 1)).toBe(LIMIT - 1 - 3);
    await shared.advance(5_000);
    expect(await admitted(LIMIT, () => 1)).toBe(3);
  });

  it('does not use a lease that has ended', async () => {
    await take(0);
    await tell();
    await shared.advance(4_000);
    expect(await admitted(LIMIT, () => 1)).toBe(LIMIT - 1 - 3); // still reserved
    await shared.advance(2_000);
    expect(await admitted(LIMIT, () => 1)).toBe(3);
    expect(await admitted(10, () => 0)).toBe(UNASKED);
  });

  it('tells of calls under several limits, and counts each of them under all or none', async () => {
    for (let n = 0; n < 20; n++) expect((await take(n % 3, [all, auth], address)).admitted).toBe(true);
    expect(await take(1, [all, auth], address)).toMatchObject({ admitted: false, quotas: [{}, { remaining: 0 }] });
    await shared.advance(6_000);
    let others = 0;
    while ((await take(2, [all], address)).admitted) others++;
    expect(others).toBe(LIMIT - 20);
  });

  it('does not wait in a circle when instances count the same callers at the same time', async () => {
    const keys = Array.from({ length: 30 }, (_, nth): RateLimitKey => ({ kind: 'address', value: `192.0.2.${nth}` }));
    const orders: string[][] = [];
    for (const { ledger } of stores) {
      ledger.before = async () => {
        orders.push(ledger.asks.map(({ key, limits }) => `${key} ${limits[0]?.policy === 'default' ? 0 : 1}`));
      };
    }
    const calls = stores.flatMap((_, nth) =>
      [...(nth === 1 ? keys.toReversed() : keys)].flatMap((key) => [
        take(nth, [auth], key),
        take(nth, [all], key),
        take(nth, [all, auth], key),
      ]),
    );
    const begun = performance.now();
    expect((await Promise.all(calls)).every((one) => one.admitted)).toBe(true);
    expect(performance.now() - begun).toBeLessThan(5_000);
    const rows = await shared.rows<{ policy: string; total: number }>();
    expect(rows.map(({ total }) => total)).toEqual(rows.map(() => 6));
    for (const order of orders) expect(order).toEqual([...order].sort());
  });

  it.each([
    ['calls', 1],
    ['reports', 0],
  ] as const)('locks the limits of a caller in one order, whichever it has used first: %s', async (_, waiting) => {
    const { store, ledger } = stores[0] as SharedStore;
    const orders: string[][] = [];
    ledger.before = async () => {
      for (const { limits } of ledger.asks) orders.push(limits.map(({ policy }) => policy));
    };
    const limits = (['key', 'auth', 'default'] as const).map((policy): RateLimit => ({ policy, limit: LIMIT }));
    const { quotas } = await store.take(address, limits, 1);
    expect(quotas.map(({ policy }) => policy)).toEqual(['key', 'auth', 'default']);
    if (waiting) for (let n = 0; n < LIMIT; n++) await store.take(address, limits, 1);
    await store.tell('all');
    expect(orders.length).toBeGreaterThan(waiting ? 5 : 0);
    for (const order of orders) expect(order).toEqual(['default', 'auth', 'key']);
    const refused = await store.take(address, limits, 0);
    expect(refused.quotas.map(({ policy }) => policy)).toEqual(['key', 'auth', 'default']);
  });

  it('keeps the waits short when the clock of the database is set back', async () => {
    await admitted(20, () => 0, [auth]);
    await shared.moveDatabase(-30_000);
    expect(await take(1, [auth])).toMatchObject({ admitted: false, quotas: [{ seconds: 60 }] });
    await shared.moveDatabase(-3_600_000);
    expect(await take(2, [auth])).toMatchObject({ admitted: true });
  });

  it('does not depend on the clocks of the instances', async () => {
    await admitted(10, () => 0, [auth]);
    await shared.moveDatabase(60_000); // the clock of the instances stands still
    expect(await admitted(30, () => 1, [auth])).toBe(20);
  });

  it('counts again from zero after the table was emptied', async () => {
    await admitted(20, () => 0, [auth]);
    await query(shared.url, 'TRUNCATE rate_limits');
    expect(await admitted(30, () => 1, [auth])).toBe(20);
  });

  describe('while the database is out of reach', () => {
    const fail = (nth: number, error: unknown = new Error('connect ECONNREFUSED')) => {
      (stores[nth] as SharedStore).ledger.before = () => Promise.reject(error);
    };
    const mend = (nth: number) => {
      (stores[nth] as SharedStore).ledger.before = async () => undefined;
    };

    it('counts the calls of the last minute on this instance, also those before the outage', async () => {
      expect(await admitted(15, () => 0, [auth])).toBe(15);
      fail(0);
      expect(await admitted(15, () => 0, [auth])).toBe(5);
      expect(await take(0, [auth])).toMatchObject({ admitted: false, quotas: [{ remaining: 0, seconds: 60 }] });
      expect(await stores[0]?.store.reached(alice, [auth])).toMatchObject([{ remaining: 0 }]);
      expect(await admitted(15, () => 1, [auth])).toBe(5);
    });

    it('asks only once a second, has one line in the log, and tells of the calls afterwards', async () => {
      const { store, ledger, log } = stores[0] as SharedStore;
      fail(0);
      expect(await admitted(10, () => 0, [auth])).toBe(10);
      expect(ledger.statements).toBe(1);
      await store.tell();
      await store.tell();
      expect(ledger.statements).toBe(3);
      expect(events(log)).toEqual(['this instance counts alone for the rate limits']);
      mend(0);
      await shared.advance(1_000);
      await store.tell();
      expect(events(log).slice(1)).toEqual(['all instances count together for the rate limits again']);
      expect(await admitted(30, () => 1, [auth])).toBe(10);
    });

    it('forgets the callers whose calls are older than a minute, and tells of the others afterwards', async () => {
      const { store, ledger } = stores[0] as SharedStore;
      fail(0);
      const caller = (nth: number): RateLimitKey => ({ kind: 'credential', value: `caller ${nth}` });
      for (let nth = 0; nth < 200; nth++) await take(0, [all], caller(nth));
      await store.tell();
      expect(store.untoldSize).toBe(200);
      await shared.advance(60_000);
      await take(0, [all], caller(7));
      await store.tell();
      expect(store.untoldSize).toBe(1);
      mend(0);
      await store.tell();
      expect(ledger.asks.map(({ limits }) => limits[0]?.used)).toEqual([[[0, 1]]]);
      expect(store.untoldSize).toBe(0);
    });

    it('lets no call wait longer than the patience', async () => {
      const impatient = shared.store({ patienceMs: 50 });
      impatient.ledger.before = () => new Promise(() => undefined);
      stores[0] = impatient;
      const begun = performance.now();
      expect(await admitted(100, () => 0, [auth])).toBe(20);
      expect(performance.now() - begun).toBeLessThan(1_000);
      expect(events(impatient.log)).toEqual(['this instance counts alone for the rate limits']);
    });
  });
});
