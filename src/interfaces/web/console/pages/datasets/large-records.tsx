import { useRef, useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { ApiError, answer, api } from '../../shared/api.js';
import { plural } from '../../shared/format.js';
import { Icon } from '../../shared/icon.js';
import { usePaged } from '../../shared/query.js';
import { query, setQuery } from '../../shared/router.js';
import { SearchField, searchText } from '../../shared/search-field.js';
import { Empty, Loaded } from '../../shared/states.js';
import { More } from '../../shared/table.js';
import { toast, toastError } from '../../shared/toasts.js';
import { at, type Dataset } from './calls.js';
import type { Row } from './changes.js';
import { RecordDialog } from './record-dialog.js';
import { RecordsTable } from './records-table.js';
import { type DatasetRecord, isSame } from './values.js';

const PATH = '/v1/projects/{project_id}/datasets/{dataset_id}/records';
const EMPTY: DatasetRecord = { id: '', group: null, input: '', expected: '', fields: {} };
const FINDINGS = [
  ['', 'All records'],
  ['duplicate_id', 'With a repeated id'],
  ['empty_input', 'Without input'],
  ['empty_expected', 'Without an expected value'],
] as const;
type Finding = Exclude<(typeof FINDINGS)[number][0], ''>;

interface Listed {
  readonly id: string;
  readonly record: DatasetRecord;
}

/** The record that is open. `now` is what the user has made of it, or null to remove it. */
interface Open {
  readonly before: DatasetRecord | null;
  readonly now: DatasetRecord | null;
}

/** Shows the records of a dataset that is too large for one page. A changed record is saved when it is closed. */
export function LargeRecords(props: {
  project: string;
  dataset: Dataset;
  version: number;
  /** Loads the dataset again after a change. Without it, the records can only be read. */
  onSaved?: () => Promise<void>;
}) {
  const { project, dataset, version, onSaved } = props;
  const [open, draw] = useState<Open | null>(null);
  const current = useRef<Open | null>(null); // a change and the end of a dialog can come before the next drawing
  const setOpen = (next: Open | null) => {
    current.current = next;
    draw(next);
  };
  const q = searchText();
  const finding = (query.value.get('finding') ?? '') as Finding | '';
  const records = usePaged<Listed>(`records ${dataset.id}@${version} ${q ?? ''} ${finding}`, async (cursor) => {
    const wanted = {
      version: String(version),
      ...(q && { q }),
      ...(finding && { finding }),
      ...(cursor && { cursor }),
    };
    const page = await answer(api.GET(PATH, { params: { ...at(project, dataset.id), query: wanted as object } }));
    const before = cursor ?? '';
    const items = page.records.map((record, index) => ({ id: `${before} ${index}`, record }));
    return { items, next: page.next_cursor };
  });
  const mayEdit = onSaved !== undefined && can('edit_workspace') && dataset.state === 'editable';
  const [saving, setSaving] = useState(false);
  const editable = mayEdit && !saving; // a change names the version that the last change made
  const close = async () => {
    const done = current.current;
    setOpen(null);
    if (!done || isSame(done.before ?? EMPTY, done.now)) return;
    setSaving(true);
    try {
      const outcome = await save(project, dataset, done);
      await onSaved?.();
      toast(outcome);
    } catch (reason) {
      setOpen(done); // nothing that was typed is lost
      const isStale = reason instanceof ApiError && reason.code === 'stale_version';
      if (isStale) await onSaved?.();
      toastError(isStale ? new Error(CHANGED) : reason);
    } finally {
      setSaving(false);
    }
  };
  const isUnclear = mayRepeatIds(dataset);
  const row = open && rowOf(open.now ?? open.before ?? EMPTY, 0);
  return (
    <>
      <div class="dataset-tools">
        <SearchField label="Find records" placeholder="A part of any value" />
        <select aria-label="Findings" onChange={(event) => setQuery({ finding: event.currentTarget.value || null })}>
          {FINDINGS.map(([code, title]) => (
            <option key={code} value={code} selected={code === finding}>
              {title}
            </option>
          ))}
        </select>
        {mayEdit && (
          <button type="button" class="button" disabled={saving} onClick={() => setOpen({ before: null, now: EMPTY })}>
            <Icon name="plus" /> Add a record
          </button>
        )}
      </div>
      {mayEdit && isUnclear && (
        <p class="hint">
          Records have the same id, so they cannot be changed one by one: import them with different ids.
        </p>
      )}
      <Loaded query={records} what="the records">
        {(found) =>
          found.length === 0 ? (
            <Empty icon="datasets" title="No record fits" />
          ) : (
            <>
              <p class="hint" role="status">
                {plural(found.length, 'record')} {records.more ? 'so far' : 'in all'}
              </p>
              <RecordsTable
                rows={found.map(({ record }, index) => rowOf(record, index))}
                findings={new Map()}
                onOpen={(key) => {
                  const record = found[Number(key)]?.record;
                  if (record) setOpen({ before: record, now: record });
                }}
              />
            </>
          )
        }
      </Loaded>
      <More query={records} />
      {open && row && (
        <RecordDialog
          row={open.before ? row : { ...row, change: 'added' }}
          findings={[]}
          editable={editable && !(open.before && isUnclear)}
          onStep={{ before: null, after: null }}
          onChange={(record) => {
            const { before } = open;
            setOpen({ before, now: record === undefined ? (before ?? EMPTY) : record });
          }}
          onClose={() => void close()}
        />
      )}
    </>
  );
}

const rowOf = (record: DatasetRecord, index: number): Row => ({ key: String(index), index, record, change: null });

/** A change names a record by its id, and would change the first of several. Only the first findings are known. */
const mayRepeatIds = ({ validation: { findings, count } }: Dataset): boolean =>
  count > findings.length || findings.some(({ code }) => code === 'duplicate_id');

const CHANGED =
  'Somebody else has changed the dataset. Its newest version is loaded now, and your change is still open: save it again.';

/** Saves the change of one record as a new version. Sends only the parts that differ. Returns what to tell the user. */
async function save(project: string, { id, version }: Dataset, { before, now }: Open): Promise<string> {
  if (!before) {
    const body = { version, records: [now] as never };
    const { duplicates, version: saved } = await answer(api.POST(PATH, { params: at(project, id), body }));
    return duplicates > 0 ? 'The dataset has a record with this content already.' : `Version ${saved} is saved.`;
  }
  const params = { path: { project_id: project, dataset_id: id, record: before.id } };
  const parts = Object.entries(now ?? {}).filter(([name, part]) => !isSame(before[name as keyof DatasetRecord], part));
  const { version: saved } = now
    ? await answer(api.PATCH(`${PATH}/{record}`, { params, body: { version, ...Object.fromEntries(parts) } as never }))
    : await answer(api.DELETE(`${PATH}/{record}`, { params, body: { version } }));
  return `Version ${saved} is saved.`;
}
