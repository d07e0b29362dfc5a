import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { PagedQuery } from './query.js';
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
}

/** Draws a table. A table that is too wide scrolls within the page. */
export function Table<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}) {
  const { label, columns, rows, rowKey } = props;
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
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
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
    </div>
  );
}

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
