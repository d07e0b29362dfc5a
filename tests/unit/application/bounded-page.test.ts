import { boundedPage, PAGE_BYTES } from '../../../src/application/shared/bounded-page.js';
import type { Page } from '../../../src/application/shared/ports.js';
import { retryWrite } from '../../../src/application/shared/retry-write.js';

describe('boundedPage', () => {
  const over = (count: number, bytes: number) => {
    const all = Array.from({ length: count }, (_, n) => ({ id: `id_${String(n).padStart(4, '0')}`, bytes }));
    const looks: number[] = [];
    const reserved: number[] = [];
    const part = ({ limit, after }: Page) => all.filter(({ id }) => after === null || id > after).slice(0, limit);
    const list = {
      sizes: async (page: Page) => {
        looks.push(page.limit);
        return part(page);
      },
      fetch: async (page: Page) => {
        expect(reserved).toHaveLength(1);
        return part(page).map(({ id }) => id);
      },
      memory: { reserve: async (...lengths: number[]) => void reserved.push(...lengths) },
    };
    const page = (limit: number, after: string | null = null) => boundedPage({ limit, after }, list);
    return { ids: all.map(({ id }) => id), page, looks, reserved };
  };

  it.each([
    [0, 5, 0, false],
    [4, 5, 4, false],
    [5, 5, 5, false],
    [6, 5, 5, true],
    [10, 10, 10, false],
    [10, 1000, 10, false],
    [11, 10, 10, true],
    [120, 1000, 120, false],
    [120, 119, 119, true],
    [120, 100, 100, true],
  ])('with %i items and the limit %i, returns %i', async (count, limit, expected, more) => {
    const { page, ids } = over(count, 1);
    expect(await page(limit)).toEqual({ items: ids.slice(0, expected), more });
  });

  it('ends a page before the limit of bytes, and continues there with the next page', async () => {
    const { page, ids, looks, reserved } = over(1_000, PAGE_BYTES / 4 - 1);
    expect(await page(1000)).toEqual({ items: ids.slice(0, 4), more: true });
    expect([looks, reserved]).toEqual([[10], [PAGE_BYTES - 4]]);
    reserved.length = 0;
    expect((await page(1000, 'id_0003')).items).toEqual(ids.slice(4, 8));
  });

  it('returns at least one item, however long it is', async () => {
    const { page, ids } = over(2, PAGE_BYTES * 2);
    expect(await page(10)).toEqual({ items: ids.slice(0, 1), more: true });
  });
});

describe('retryWrite', () => {
  const { signal } = new AbortController();

  it('repeats a write that lost, and returns the result of the first one that did not', async () => {
    const outcomes = [false, false, { written: 3 }, { written: 4 }] as const;
    let attempts = 0;
    expect(await retryWrite(signal, async () => outcomes[attempts++] ?? false)).toEqual({ written: 3 });
    expect(attempts).toBe(3);
  });

  it('ends with storage_unavailable if every attempt loses', async () => {
    const attempt = jest.fn(async () => false as const);
    await expect(retryWrite(signal, attempt)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(attempt).toHaveBeenCalledTimes(64);
  });

  it('does not repeat a failed attempt', async () => {
    const failure = new Error('no');
    const attempt = jest.fn(() => Promise.reject(failure));
    await expect(retryWrite(signal, attempt)).rejects.toBe(failure);
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it('makes only one attempt for a caller who has disconnected', async () => {
    const gone = AbortSignal.abort(new Error('gone'));
    const attempt = jest.fn(async () => false as const);
    await expect(retryWrite(gone, attempt)).rejects.toBe(gone.reason);
    expect(attempt).toHaveBeenCalledTimes(1);
    expect(await retryWrite(gone, async () => true)).toBe(true);
  });
});
