import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from '../../shared/icon.js';
import { NullValue } from '../../shared/json-text.js';
import type { Row } from './changes.js';
import { BASE_FIELDS, type DatasetRecord, fieldOf, furtherFields, textOf } from './values.js';

const ROW_PX = 36;
/** The drawn rows change only in steps of this many rows, so that most scrolling draws nothing. */
const STEP = 8;
const COLUMN_STEP = 3;
const MOST_SHOWN = 160;
/** The width of the columns for the row number and the four base fields together. */
const BASE_PX = 900;
const FIELD_PX = 176;

/** The texts of a record's cells. They are made only once, because a record never changes. */
const texts = new WeakMap<DatasetRecord, Map<string, string>>();

function cellText(record: DatasetRecord, name: string): string {
  const known = texts.get(record) ?? new Map<string, string>();
  texts.set(record, known);
  const text = known.get(name) ?? textOf(fieldOf(record, name)).slice(0, MOST_SHOWN);
  known.set(name, text);
  return text;
}

/**
 * Shows records in a table that stays fast with any number of rows and fields, because only the visible ones are drawn.
 * Arrow Up, Arrow Down, Page Up, Page Down, Home and End move between rows. Enter opens a row.
 */
export function RecordsTable(props: {
  rows: readonly Row[];
  /** The findings of each record, by its index. */
  findings: ReadonlyMap<number, readonly string[]>;
  onOpen: (key: string) => void;
}) {
  const { rows, findings, onOpen } = props;
  const box = useRef<HTMLElement>(null);
  const [start, setStart] = useState(0);
  const [from, setFrom] = useState(0);
  const [{ height, width }, setSize] = useState({ height: 600, width: 1000 });
  const [active, setActive] = useState(0);
  const moved = useRef(false);
  const names = useMemo(() => furtherFields(rows.map(({ record }) => record)), [rows]);
  const inView = Math.ceil(height / ROW_PX) + 2 * STEP;
  const first = Math.min(start, Math.max(0, rows.length - inView));
  const drawn = rows.slice(first, first + inView);
  const columns = names.slice(from, from + Math.ceil(width / FIELD_PX) + 2 * COLUMN_STEP);
  const later = names.length - from - columns.length;
  const reachable = active >= first && active < first + drawn.length ? active : first;

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setSize({ height: element.clientHeight, width: element.clientWidth }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    box.current?.querySelector<HTMLElement>(`[data-row="${active}"]`)?.focus({ preventScroll: true });
  });

  const onScroll = () => {
    const top = Math.floor((box.current?.scrollTop ?? 0) / ROW_PX);
    setStart(Math.max(0, Math.floor(top / STEP) * STEP - STEP));
    const left = Math.floor(((box.current?.scrollLeft ?? 0) - BASE_PX) / FIELD_PX);
    setFrom(Math.max(0, Math.floor(left / COLUMN_STEP) * COLUMN_STEP - COLUMN_STEP));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const element = box.current;
    if (!element) return;
    const page = Math.max(1, Math.floor(height / ROW_PX) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.min(rows.length - 1, Math.max(0, reachable + step));
    moved.current = true;
    setActive(next);
    const top = next * ROW_PX;
    const visible = element.clientHeight - 2 * ROW_PX;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top > element.scrollTop + visible) element.scrollTop = top - visible;
    onScroll();
  };

  return (
    <section ref={box} class="dataset-rows" aria-label="Records" onScroll={onScroll} onKeyDown={onKeyDown}>
      <table
        aria-rowcount={rows.length + 1}
        aria-colcount={names.length + 5}
        style={{ width: `${BASE_PX + names.length * FIELD_PX}px` }}
      >
        <colgroup>
          <col class="dataset-col-number" />
          <col class="dataset-col-id" />
          <col class="dataset-col-group" />
          <col class="dataset-col-input" />
          <col />
          {names.map((name) => (
            <col key={name} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <th scope="col" class="numeric">
              Row
            </th>
            {BASE_FIELDS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            {from > 0 && <td colSpan={from} />}
            {columns.map((name, at) => (
              <th key={`own ${name}`} scope="col" aria-colindex={from + at + 6}>
                {name}
              </th>
            ))}
            {later > 0 && <td colSpan={later} />}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Gap rows={first} columns={names.length + 5} />}
          {drawn.map(({ key, index, record, change }, at) => {
            const wrong = (index === null ? undefined : findings.get(index)) ?? [];
            return (
              <tr key={key} aria-rowindex={first + at + 2} class={change ? `dataset-row-${change}` : undefined}>
                <td class="numeric" title={wrong.join('; ') || undefined}>
                  {wrong.length > 0 && <Icon name="warning" />} {first + at + 1}
                </td>
                <th scope="row">
                  <button
                    type="button"
                    dir="auto"
                    class="dataset-open"
                    data-row={first + at}
                    tabIndex={first + at === reachable ? 0 : -1}
                    onFocus={() => setActive(first + at)}
                    onClick={() => onOpen(key)}
                  >
                    {cellText(record, 'id') || 'no id'}
                    {change && <span class="badge dataset-badge">{change}</span>}
                    {wrong.length > 0 && <span class="dataset-unseen">, has findings</span>}
                  </button>
                </th>
                {BASE_FIELDS.slice(1).map((name) => (
                  <Cell key={name} record={record} name={name} />
                ))}
                {from > 0 && <td colSpan={from} />}
                {columns.map((name) => (
                  <Cell key={`own ${name}`} record={record} name={name} />
                ))}
                {later > 0 && <td colSpan={later} />}
              </tr>
            );
          })}
          {first + drawn.length < rows.length && (
            <Gap rows={rows.length - first - drawn.length} columns={names.length + 5} />
          )}
        </tbody>
      </table>
    </section>
  );
}

const Cell = ({ record, name }: { record: DatasetRecord; name: string }) => (
  <td dir="auto">{fieldOf(record, name) === null ? <NullValue /> : cellText(record, name)}</td>
);

/** Fills the height of the rows that are not drawn. */
const Gap = ({ rows, columns }: { rows: number; columns: number }) => (
  <tr class="dataset-gap" style={{ height: `${rows * ROW_PX}px` }}>
    <td colSpan={columns} />
  </tr>
);
