import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api.js';
import { joinedPages } from './paging.js';
import { leftAt } from './router.js';

const LONGEST_WAIT_MS = 15_000;
const MOST_KEPT = 200;

/** The answers by key. A page that is opened again shows its last answer at once. */
const kept = new Map<string, unknown>();

function keep(key: string, value: unknown): void {
  kept.delete(key);
  kept.set(key, value);
  const oldest = kept.keys().next().value;
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}

export interface Query<T> {
  /** The last answer. It stays when a later call fails. */
  readonly data: T | undefined;
  /** The reason why the last call failed. */
  readonly error: ApiError | undefined;
  readonly loading: boolean;
  /** Loads again. Stays pending during an outage. */
  readonly reload: () => Promise<void>;
  /** Replaces the answer, for example with the answer of a change. */
  readonly set: (data: T) => void;
}

/**
 * Calls `load` and keeps the answer by `key`. Loads again when the key changes. A null key loads nothing. With
 * `everyMs`, loads repeatedly while the page is visible. After each failure the wait is longer, up to 15 s, but never
 * shorter than `everyMs`. If `everyMs` is null, or after a 404, does not repeat.
 */
export function useQuery<T>(
  key: string | null,
  load: () => Promise<T>,
  { everyMs = null }: { everyMs?: number | null | ((data: T | undefined) => number | null) } = {},
): Query<T> {
  const [loads, draw] = useState(0);
  const state = useRef<State<T>>({ key: null, loading: false, calls: 0, failures: 0 });
  const loader = useRef(load);
  loader.current = load;
  if (state.current.key !== key) {
    const data = key === null ? undefined : (kept.get(key) as T | undefined);
    state.current = { key, data, loading: key !== null, calls: 0, failures: 0 };
  }

  const reload = useCallback(async () => {
    if (key === null) return;
    const current = state.current;
    const call = ++current.calls;
    current.loading = true;
    try {
      const data = await loader.current();
      if (call < current.calls) return; // a later call or `set` is newer
      keep(key, data);
      Object.assign(current, { data, error: undefined, failures: 0 });
    } catch (reason) {
      if (call < current.calls) return;
      current.error = reason instanceof ApiError ? reason : new ApiError(0, 'failed', String(reason));
      current.failures += 1;
    }
    current.loading = false;
    draw((count) => count + 1);
  }, [key]);

  const set = useCallback(
    (data: T) => {
      if (key !== null) keep(key, data);
      state.current.calls += 1;
      Object.assign(state.current, { data, error: undefined, loading: false, failures: 0 });
      draw((count) => count + 1);
    },
    [key],
  );

  useEffect(() => void reload(), [reload]);
  const wanted = typeof everyMs === 'function' ? everyMs(state.current.data) : everyMs;
  useEffect(() => {
    const { error, failures, loading } = state.current;
    if (wanted === null || loading || error?.status === 404) return;
    const afterFailures = Math.min(wanted * 2 ** failures, LONGEST_WAIT_MS);
    const wait = Math.max(wanted, afterFailures, (error?.retryAfter ?? 0) * 1000);
    const loadIfSeen = () => void (document.hidden || state.current.loading || reload());
    const timer = setTimeout(loadIfSeen, wait);
    document.addEventListener('visibilitychange', loadIfSeen);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', loadIfSeen);
    };
  }, [loads, reload, wanted]);

  const { data, error, loading } = state.current;
  return { data, error, loading, reload, set };
}

interface State<T> {
  readonly key: string | null;
  data?: T;
  error?: ApiError;
  loading: boolean;
  /** The number of calls and `set`s so far. An answer counts only if its call is the last of them. */
  calls: number;
  /** The number of failures in a row. */
  failures: number;
}

export interface PagedQuery<Item> extends Query<readonly Item[]> {
  /** Loads the next page, or null if there is none. */
  readonly more: (() => Promise<void>) | null;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** The pages of a list after the first one. */
interface LaterPages<Item> {
  readonly key: string | null;
  /** The items of the pages shown so far. */
  later: readonly Item[];
  /** The cursor of the next page, null after the last page, or undefined while only the first page is shown. */
  next: string | null | undefined;
}

/** Returns the pages that were shown when the list was left, if the user comes back to it. Otherwise starts anew. */
function laterPages<Item>(key: string | null): LaterPages<Item> {
  const name = `later pages of ${key}`;
  const left = leftAt() === null ? undefined : kept.get(name);
  const pages = (left as LaterPages<Item> | undefined) ?? { key, later: [], next: undefined };
  if (key !== null) keep(name, pages);
  return pages;
}

/**
 * The same as `useQuery` for a list with pages. `load` takes the cursor of a page, or null for the first page. After a
 * step back in the history, the list shows the same pages as before, and loads them again.
 */
export function usePaged<Item extends { readonly id: string }>(
  key: string | null,
  load: (cursor: string | null) => Promise<Page<Item>>,
  options: { everyMs?: number | null } = {},
): PagedQuery<Item> {
  const pages = useRef<LaterPages<Item>>({ key: null, later: [], next: undefined });
  if (pages.current.key !== key) pages.current = laterPages(key);
  // The prefix separates these answers from the answers of `useQuery` with the same key, which have another type.
  const first = useQuery(key && `pages of ${key}`, () => load(null), options);
  const [, draw] = useState(0);
  const joined = first.data && joinedPages(first.data.items, pages.current.later);
  // Shows only the first page again, because items between the pages would be missing.
  if (joined === null) pages.current = { key, later: [], next: undefined };
  const shown = joined ?? first.data?.items;
  const { next } = pages.current;
  const cursor = next === undefined ? first.data?.next : next;
  const more = async () => {
    const at = pages.current;
    const page = await load(cursor ?? null);
    at.later = [...(shown ?? []), ...page.items]; // New items may push shown items out of the first page.
    at.next = page.next;
    draw((count) => count + 1);
  };
  const set = (items: readonly Item[], after = cursor ?? null) => {
    if (pages.current.next !== undefined) Object.assign(pages.current, { later: items, next: after });
    first.set({ items, next: after });
  };
  /** Loads as many pages as are shown, because any of their items may have changed or disappeared. */
  const reload = async () => {
    const at = pages.current;
    if (at.next === undefined) return first.reload();
    const items: Item[] = [];
    let after: string | null = null;
    try {
      do {
        const page: Page<Item> = await load(after);
        items.push(...page.items);
        after = page.next;
      } while (after !== null && items.length < (shown?.length ?? 0));
    } catch {
      return first.reload(); // the first page shows the error
    }
    if (pages.current === at) set(items, after);
  };
  useEffect(() => {
    if (pages.current.next !== undefined) void reload();
  }, [key]);
  return { ...first, data: shown, reload, set: (items) => set(items), more: cursor ? more : null };
}
