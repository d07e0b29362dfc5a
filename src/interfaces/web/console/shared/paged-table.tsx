import { useEffect } from 'preact/hooks';
import type { PagedQuery } from './query.js';
import { query as place } from './router.js';
import { More, Table, type TableProps } from './table.js';
import { toastError } from './toasts.js';

/** At most this many rows are loaded by themselves to sort them. */
const MOST_SORTED = 1_000;
const SORTED_PAGE = 250;

const isSorted = () => place.value.get('sort') !== null;

/** Returns the rows of a page to load. A sorted list needs all of its rows, and so loads larger pages. */
export const pageSize = (usual: number): number => (isSorted() ? Math.max(usual, SORTED_PAGE) : usual);

/**
 * Draws a list with pages, and a button for the next page. When the user sorts the list, the other pages are loaded by
 * themselves, because their rows could be the first ones.
 */
export function PagedTable<Row extends { readonly id: string }>(
  props: Omit<TableProps<Row>, 'sort' | 'rowKey'> & { query: PagedQuery<Row> },
) {
  const { query, rows, ...table } = props;
  const { more } = query;
  const isTooLong = more !== null && rows.length >= MOST_SORTED;
  const loadsMore = isSorted() && more !== null && !isTooLong;
  useEffect(() => {
    if (loadsMore) void more?.().catch(toastError);
  }, [loadsMore, rows.length]);
  return (
    <>
      {isSorted() && (
        <p class="hint" role="status">
          {loadsMore && 'Loading the other rows to sort them …'}
          {isTooLong &&
            `Only the ${rows.length} rows that are loaded are sorted. A search or a filter finds the others.`}
        </p>
      )}
      <Table<Row> {...table} rows={rows} rowKey={({ id }) => id} sort="sort" />
      {!loadsMore && <More query={query} />}
    </>
  );
}
