import type { Page } from './ports.js';

export interface Bounded<T> {
  readonly items: readonly T[];
  /** True if more items follow. */
  readonly more: boolean;
}

const AT_ONCE = 50;

/** Limits a page in characters of JSON. */
export const PAGE_BULK = 4 * 1024 * 1024;

/**
 * Fetches a page of objects that may be large. Ends the page early once `bulkOf` of its objects exceeds the limit. Returns
 * at least one object if there is one.
 */
export async function boundedPage<T extends { readonly id: string }>(
  { limit, after }: Page,
  fetch: (page: Page) => Promise<readonly T[]>,
  bulkOf: (one: T) => unknown,
): Promise<Bounded<T>> {
  const items: T[] = [];
  for (let length = 0; ; ) {
    // Fetches one more, to learn whether more follow.
    const wanted = Math.min(AT_ONCE, limit - items.length + 1);
    const found = await fetch({ limit: wanted, after: items.at(-1)?.id ?? after });
    for (const one of found) {
      length += JSON.stringify(bulkOf(one)).length;
      if (items.length === limit || (items.length > 0 && length > PAGE_BULK)) return { items, more: true };
      items.push(one);
    }
    if (found.length < wanted) return { items, more: false };
  }
}
