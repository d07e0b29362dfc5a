interface Page {
  readonly limit: number;
  readonly after: string | null;
}

export interface Bounded<T> {
  readonly items: readonly T[];
  /** There are more after these. */
  readonly more: boolean;
}

const AT_ONCE = 50;

/** The characters of JSON after which a page ends, however many objects it was asked for. */
export const PAGE_BULK = 4 * 1024 * 1024;

/**
 * A page of objects that may be bulky: as many as asked for, but fewer where what `bulkOf` says of them is long, so that no
 * list takes the memory of the service. At least one, if there is one.
 */
export async function boundedPage<T extends { readonly id: string }>(
  { limit, after }: Page,
  fetch: (page: Page) => Promise<readonly T[]>,
  bulkOf: (one: T) => unknown,
): Promise<Bounded<T>> {
  const items: T[] = [];
  for (let length = 0; ; ) {
    // One more than wanted tells whether there is more.
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
