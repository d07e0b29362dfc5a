import type { JsonObject } from '../../domain/workspace/json.js';

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

/** The characters of specs after which a page ends, however many objects it was asked for. */
export const PAGE_SPECS = 4 * 1024 * 1024;

/**
 * A page of objects that carry specs of up to 256 KB each: as many as asked for, but fewer where their specs are long, so
 * that no list takes the memory of the service. At least one, if there is one.
 */
export async function boundedPage<T extends { readonly id: string; readonly spec: JsonObject }>(
  { limit, after }: Page,
  fetch: (page: Page) => Promise<readonly T[]>,
): Promise<Bounded<T>> {
  const items: T[] = [];
  for (let length = 0; ; ) {
    // One more than wanted tells whether there is more.
    const wanted = Math.min(AT_ONCE, limit - items.length + 1);
    const found = await fetch({ limit: wanted, after: items.at(-1)?.id ?? after });
    for (const one of found) {
      length += JSON.stringify(one.spec).length;
      if (items.length === limit || (items.length > 0 && length > PAGE_SPECS)) return { items, more: true };
      items.push(one);
    }
    if (found.length < wanted) return { items, more: false };
  }
}
