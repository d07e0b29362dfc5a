import type { Reservation } from './memory-budget.js';
import type { Page, SizedItem } from './ports.js';

export interface Bounded<T> {
  readonly items: readonly T[];
  /** True if more items follow. */
  readonly more: boolean;
}

/** Limits the JSON of a page, in bytes. The parsed values need up to 15 times as much memory. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** A search by name reads at most so many of the newest items of an unbounded list. */
export const MOST_SEARCHED = 5_000;

const FIRST_LOOK = 10;

interface BoundedList<T> {
  /** Returns the items of a page without their content. */
  readonly sizes: (page: Page) => Promise<readonly SizedItem[]>;
  /** Gets the page, and its items without their content. */
  readonly fetch: (page: Page, selected: readonly SizedItem[]) => Promise<readonly T[]>;
  /** Gets the length of the content before the content is fetched. */
  readonly memory: Pick<Reservation, 'reserve'>;
}

/** Fetches a page of items that can be large. The page has at most `PAGE_BYTES`, or a single larger item. */
export async function boundedPage<T>({ limit, after }: Page, list: BoundedList<T>): Promise<Bounded<T>> {
  const { selected, bytes, more } = await fitting({ limit, after }, list.sizes);
  if (selected.length === 0) return { items: [], more };
  await list.memory.reserve(bytes);
  return { items: await list.fetch({ limit: selected.length, after }, selected), more };
}

/** Selects the items that fit in a page. Asks for few sizes first, because the database reads an item to measure it. */
async function fitting({ limit, after }: Page, sizes: BoundedList<unknown>['sizes']) {
  const selected: SizedItem[] = [];
  let bytes = 0;
  const room = () => 1 + Math.ceil((PAGE_BYTES - bytes) / (bytes / selected.length));
  for (let look = FIRST_LOOK; ; look = Math.min(4 * look, room())) {
    const wanted = Math.min(look, limit - selected.length + 1); // one more, to learn whether more follow
    const found = await sizes({ limit: wanted, after: selected.at(-1)?.id ?? after });
    for (const one of found) {
      const { length } = selected;
      if (length === limit || (length > 0 && bytes + one.bytes > PAGE_BYTES)) return { selected, bytes, more: true };
      selected.push(one);
      bytes += one.bytes;
    }
    if (found.length < wanted) return { selected, bytes, more: false };
  }
}
