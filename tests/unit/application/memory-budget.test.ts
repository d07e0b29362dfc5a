import { MemoryBudget, SMALL_BYTES } from '../../../src/application/shared/memory-budget.js';

const MB = 1024 * 1024;
const WAIT_MS = 100;

describe('MemoryBudget', () => {
  const LARGE = 200 * 1024;
  const isOpen = (work: Promise<unknown>) =>
    Promise.race([work.then(() => false), new Promise((resolve) => setImmediate(() => resolve(true)))]);

  it('releases what a call reserved before it reserves again, so that two calls do not wait for each other', async () => {
    const all = new MemoryBudget(MB, WAIT_MS);
    const [one, other] = [all.open('a'), all.open('a')];
    await one.reserve(SMALL_BYTES + 1);
    const waiting = other.reserve(SMALL_BYTES + 1);
    await one.reserve(0);
    await waiting;
    const again = one.reserve(SMALL_BYTES + 1);
    other.close();
    await again;
  });

  it('serves calls that keep a large body and wait for more one after another, and counts what they keep', async () => {
    const all = new MemoryBudget(MB, 5_000);
    const calls = await Promise.all(
      ['a', 'a', 'b', 'b'].map(async (owner) => {
        const one = all.open(owner);
        await one.reserveBytes(MB / 6);
        one.keep(null);
        return one;
      }),
    );
    const stranger = all.open('address 192.0.2.1').reserveBytes(2 * LARGE);
    const works = calls.map((one) => one.reserveBytes(MB).then(...outcomes));
    for (const [n, work] of works.entries()) {
      expect(await work).toBe('held');
      for (const later of works.slice(n + 1)) expect(await isOpen(later)).toBe(true);
      expect(await isOpen(stranger)).toBe(n === 0);
      calls[n]?.close();
    }
    await stranger;
  });

  it('keeps several contents until the end, also beyond the limit, where the same call may take more', async () => {
    const all = new MemoryBudget(MB, WAIT_MS);
    const [one, other] = [all.open('a'), all.open('b')];
    await other.reserveBytes(MB / 2);
    for (const bytes of [MB / 4, MB / 2]) {
      await one.reserveBytes(bytes); // the second content goes beyond the limit
      one.keep(null);
    }
    await one.growBytes(MB);
    await one.growBytes(2 * MB);
    other.close();
    const large = () =>
      all
        .open('c')
        .reserveBytes(MB)
        .then(...outcomes);
    expect(await large()).toBe('busy');
    one.close();
    expect(await large()).toBe('held');
  });

  it('counts content that grows until there is memory for the whole, and serves such calls one after another', async () => {
    const all = new MemoryBudget(MB, 5_000);
    const calls = ['a', 'b'].map((owner) => all.open(owner));
    for (const one of calls) await one.growBytes(MB / 3);
    const stranger = all.open('address 192.0.2.1').reserveBytes(MB / 2);
    const grown = calls.map((one) => one.growBytes(MB).then(...outcomes));
    expect(await grown[0]).toBe('held');
    expect(await isOpen(stranger)).toBe(false); // the first call no longer holds its first part
    await calls[0]?.growBytes(2 * MB); // it grows further while the others wait
    expect(await isOpen(grown[1] as Promise<unknown>)).toBe(true);
    calls[0]?.close();
    expect(await grown[1]).toBe('held');
  });

  it('leaves each account and each address as much as any of them holds', async () => {
    const all = new MemoryBudget(MB, WAIT_MS);
    const greedy = Array.from({ length: 40 }, () => all.open('greedy'));
    const waits = greedy.map((one) => one.reserveBytes(LARGE).then(...outcomes));
    await all.open('usr_other').reserveBytes(LARGE);
    await all.open('address 192.0.2.1').reserveBytes(LARGE);
    expect((await Promise.all(waits)).filter((one) => one === 'held')).toHaveLength(3);
    await expect(all.open('greedy').reserveBytes(LARGE)).rejects.toMatchObject({ code: 'busy' });
  });

  it('serves the owner first who holds least, in the order of arrival, and lets nobody overtake it', async () => {
    const all = new MemoryBudget(MB, 60_000);
    const holder = all.open('a');
    await holder.reserveBytes(MB);
    const order: string[] = [];
    const waiting = (owner: string, bytes: number) => {
      const reservation = all.open(owner);
      const done = reservation.reserveBytes(bytes).then(() => void order.push(owner));
      return { reservation, done };
    };
    const [a, b, c] = [waiting('a', LARGE), waiting('b', 4 * LARGE), waiting('c', LARGE)];
    holder.lower(2 * LARGE); // now 'c' would fit, but 'b' came earlier
    expect(await isOpen(c.done)).toBe(true);
    holder.lower(LARGE);
    await b.done;
    b.reservation.close();
    await Promise.all([a.done, c.done]);
    expect(order).toEqual(['b', 'c', 'a']);
  });

  it('also shares the room for small bodies, and never refuses tiny ones', () => {
    const all = new MemoryBudget(MB, WAIT_MS);
    const open = (owner: string, bytes: number) =>
      all
        .open(owner)
        .reserveBytes(bytes)
        .then(...outcomes);
    const floods = Array.from({ length: 40 }, () => open('greedy', SMALL_BYTES));
    const others = [open('other', SMALL_BYTES), open('address 192.0.2.1', SMALL_BYTES), open('greedy', 1_000)];
    return expect(Promise.all([...others, ...floods.slice(5)])).resolves.toEqual([
      ...Array(3).fill('held'),
      ...Array(35).fill('busy'),
    ]);
  });

  it('gives back what a call held or waited for when the call ends', async () => {
    const all = new MemoryBudget(MB, 60_000);
    const [one, other, third] = [all.open('a'), all.open('a'), all.open('a')];
    await one.reserveBytes(MB);
    const waiting = other.reserveBytes(MB);
    other.close();
    await expect(waiting).rejects.toMatchObject({ code: 'busy' });
    one.close();
    await third.reserveBytes(MB);
    await other.reserveBytes(MB); // holds nothing any more
  });
});

const outcomes = [() => 'held', (error: { code: string }) => error.code] as const;
