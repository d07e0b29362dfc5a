import { useRef } from 'preact/hooks';
import { plural } from '../../shared/format.js';
import { Icon } from '../../shared/icon.js';
import { link, path, query, setQuery } from '../../shared/router.js';
import { Empty } from '../../shared/states.js';
import type { Dataset } from './calls.js';
import type { Row } from './changes.js';
import { RecordDialog } from './record-dialog.js';
import { RecordsTable } from './records-table.js';
import { byRow } from './source.js';
import { BASE_FIELDS, type DatasetRecord, fieldOf, textOf } from './values.js';

type Findings = Dataset['validation']['findings'];

/** The note lists at most this many findings. */
const LISTED = 100;

const mentions = (record: DatasetRecord, text: string): boolean =>
  [...BASE_FIELDS, ...Object.keys(record.fields)].some((name) =>
    textOf(fieldOf(record, name)).toLowerCase().includes(text),
  );

/** Finds records by text or by findings. Shows them as a table, and the open record as a whole. */
export function RecordsBrowser(props: {
  rows: readonly Row[];
  findings: Findings;
  /** The functions that change records. If they are missing, the records can only be read. */
  onChange?: (row: Row, record: DatasetRecord | null | undefined) => void;
  onAdd?: () => void;
  /** The key that a save gave to the open record. The dialog of this record stays open with its state. */
  moved?: { current: string | null };
}) {
  const { rows, onChange, onAdd, moved } = props;
  const text = (query.value.get('find') ?? '').toLowerCase();
  const only = query.value.get('only');
  const wrong = new Map(
    byRow(props.findings).flatMap(({ row, findings }) =>
      row === null ? [] : [[row, findings.map(({ message }) => message)] as const],
    ),
  );
  const shown = rows.filter(
    ({ index, record }) =>
      (text === '' || mentions(record, text)) && (only !== 'findings' || (index !== null && wrong.has(index))),
  );
  const open = shown.findIndex(({ key }) => key === query.value.get('record'));
  const row = shown[open];
  const dialog = useRef({ key: '', count: 0 });
  if (row && row.key !== dialog.current.key) {
    const isSameRecord = row.key === moved?.current;
    dialog.current = { key: row.key, count: dialog.current.count + (isSameRecord ? 0 : 1) };
    if (isSameRecord) moved.current = null;
  }
  const show = (key: string | undefined, replace: boolean) => setQuery({ record: key ?? null }, { replace });
  const stepTo = (to: Row | undefined) => (to ? () => show(to.key, true) : null);
  return (
    <>
      <div class="dataset-tools">
        <input
          type="search"
          aria-label="Find records"
          placeholder="Find records"
          value={query.value.get('find') ?? ''}
          onInput={(event) => setQuery({ find: event.currentTarget.value })}
        />
        {wrong.size > 0 && (
          <label class="choice">
            <input
              type="checkbox"
              checked={only === 'findings'}
              onChange={(event) => setQuery({ only: event.currentTarget.checked ? 'findings' : null })}
            />
            Only those with findings
          </label>
        )}
        <span class="hint" role="status">
          {shown.length === rows.length
            ? plural(rows.length, 'record')
            : `${shown.length} of ${plural(rows.length, 'record')}`}
        </span>
        {onAdd && (
          <button type="button" class="button" onClick={onAdd}>
            <Icon name="plus" /> Add a record
          </button>
        )}
      </div>
      {shown.length > 0 ? (
        <RecordsTable rows={shown} findings={wrong} onOpen={(key) => show(key, false)} />
      ) : (
        <Empty icon="datasets" title={rows.length > 0 ? 'No record fits' : 'There are no records yet'}>
          {rows.length > 0 && (
            <a class="button" href={link(path.value)}>
              Show all records
            </a>
          )}
        </Empty>
      )}
      {row && (
        <RecordDialog
          key={dialog.current.count}
          row={row}
          findings={(row.index === null ? undefined : wrong.get(row.index)) ?? []}
          editable={onChange !== undefined}
          onStep={{ before: stepTo(shown[open - 1]), after: stepTo(shown[open + 1]) }}
          onChange={(record) => onChange?.(row, record)}
          onClose={() => show(undefined, true)}
        />
      )}
    </>
  );
}

/** Counts the findings that prevent the dataset from being frozen, and lists the first with links to the records. */
export function FindingsNote({ findings, rows }: { findings: Findings; rows: readonly Row[] }) {
  if (findings.length === 0) return null;
  return (
    <section class="note warn dataset-findings" aria-label="Findings">
      <p>
        <strong>{plural(findings.length, 'finding')}</strong> to mend before this dataset can be frozen:
      </p>
      <ul>
        {findings.slice(0, LISTED).map(({ path: place, message, code }) => {
          const index = /^records\.(\d+)/.exec(place)?.[1];
          const row = index === undefined ? undefined : rows.find((one) => one.index === Number(index));
          const to = { ...Object.fromEntries(query.value), record: row?.key, find: null, only: null };
          return <li key={place + code}>{row ? <a href={link(path.value, to)}>{message}</a> : message}</li>;
        })}
        {findings.length > LISTED && (
          <li>
            <a href={link(path.value, { only: 'findings' })}>All records with findings</a>
          </li>
        )}
      </ul>
    </section>
  );
}
