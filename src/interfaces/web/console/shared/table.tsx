import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { PagedQuery } from './query.js';
import { query, setQuery } from './router.js';
import { toastError } from './toasts.js';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Aligns numbers to the right. */
  readonly numeric?: boolean;
  /** Leaves the column out on a small screen. */
  readonly minor?: boolean;
  /** Allows line breaks anywhere in long values, such as ids and addresses. */
  readonly long?: boolean;
  /** Contains the buttons of a row. */
  readonly acts?: boolean;
  /** The value by which the rows can be sorted. */
  readonly sortBy?: (row: Row) => string | number | null | undefined;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /**
   * The parameter of the address that keeps by which column the rows are sorted. It must be null while rows are missing,
   * because they could be the first ones.
   */
  readonly sort?: string | null;
  /** Shown below the titles if there are no rows. */
  readonly none?: string;
}

/** Draws a table. A table that is too wide scrolls within the page. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rowKey, sort = null } = props;
  const order = sort && query.value.get(sort);
  const isDescending = order?.startsWith('-');
  const by = columns.find((column) => column.sortBy && nameOf(column) === order?.replace('-', ''));
  const rows = sorted(props.rows, by?.sortBy, isDescending);
  const classOf = ({ numeric, minor, long, acts }: Column<Row>) =>
    [numeric && 'numeric', minor && 'minor', long && 'long', acts && 'acts'].filter(Boolean).join(' ');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling element.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark.
    <div class="table-scroll" role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                class={classOf(column)}
                aria-sort={column !== by ? undefined : isDescending ? 'descending' : 'ascending'}
              >
                {sort && column.sortBy ? (
                  <button
                    type="button"
                    class="sort"
                    onClick={() => setQuery({ [sort]: nextOrder(nameOf(column), order) })}
                  >
                    {column.title}
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <td key={column.title} dir="auto" class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && props.none && <p class="hint">{props.none}</p>}
    </div>
  );
}

const nameOf = ({ title }: Pick<Column<never>, 'title'>) => title.toLowerCase().replaceAll(' ', '-');

/** Ascending, then descending, then as the list came. */
function nextOrder(name: string, order: string | null): string | null {
  if (order === name) return `-${name}`;
  return order === `-${name}` ? null : name;
}

/** Sorts rows. Those without a value are last in either direction. */
function sorted<Row>(rows: readonly Row[], by: Column<Row>['sortBy'], isDescending = false): readonly Row[] {
  if (!by) return rows;
  const valued = rows.map((row) => ({ row, value: by(row) ?? null }));
  const direction = isDescending ? -1 : 1;
  valued.sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
    return direction * compared(a.value, b.value);
  });
  return valued.map(({ row }) => row);
}

const compared = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number'
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });

export function More<Item>({ query }: { query: PagedQuery<Item> }) {
  const [busy, setBusy] = useState(false);
  if (!query.more) return null;
  const load = async () => {
    setBusy(true);
    await query.more?.().catch(toastError);
    setBusy(false);
  };
  return (
    <div class="actions start">
      <button type="button" class="button" disabled={busy} onClick={load}>
        {busy ? 'Loading …' : 'Show more'}
      </button>
    </div>
  );
}
