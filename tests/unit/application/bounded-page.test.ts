import { boundedPage, PAGE_BULK } from '../../../src/application/shared/bounded-page.js';

describe('a bounded page', () => {
  const objects = (count: number, length: number) =>
    Array.from({ length: count }, (_, n) => ({
      id: `id_${String(n).padStart(4, '0')}`,
      spec: { text: 'x'.repeat(length) },
    }));
  const over = (all: ReturnType<typeof objects>) => {
    const asked: number[] = [];
    const fetch = async ({ limit, after }: { limit: number; after: string | null }) => {
      asked.push(limit);
      return all.filter(({ id }) => after === null || id > after).slice(0, limit);
    };
    return {
      asked,
      page: (limit: number, after: string | null = null) => boundedPage({ limit, after }, fetch, ({ spec }) => spec),
    };
  };

  it.each([
    [0, 5, 0, false],
    [4, 5, 4, false],
    [5, 5, 5, false],
    [6, 5, 5, true],
    [120, 1000, 120, false],
    [120, 119, 119, true],
    [120, 100, 100, true],
  ])('of %i objects, asked for %i, has %i', async (count, limit, expected, more) => {
    const all = objects(count, 1);
    const { page } = over(all);
    expect(await page(limit)).toEqual({ items: all.slice(0, expected), more });
  });

  it('ends where the specs grow long, and goes on from there', async () => {
    const all = objects(40, PAGE_BULK / 4);
    const { page, asked } = over(all);
    const first = await page(1000);
    expect(first).toEqual({ items: all.slice(0, 3), more: true });
    expect(asked).toEqual([50]);
    expect((await page(1000, first.items.at(-1)?.id ?? null)).items).toEqual(all.slice(3, 6));
  });

  it('has one object however long it is', async () => {
    const all = objects(2, PAGE_BULK * 2);
    expect(await over(all).page(10)).toEqual({ items: all.slice(0, 1), more: true });
  });
});
