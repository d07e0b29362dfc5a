import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { ApiError, answer, api } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { FormError, useAction } from '../../shared/form.js';
import { formatTime, plural } from '../../shared/format.js';
import { type Query, useQuery } from '../../shared/query.js';
import { guardLeaving, link, navigate, query, setQuery } from '../../shared/router.js';
import { Loaded } from '../../shared/states.js';
import { toast } from '../../shared/toasts.js';
import { at, type Dataset, readDataset, readVersion } from './calls.js';
import {
  type Changes,
  carriedOver,
  countOf,
  newKey,
  noChanges,
  type Row,
  rebased,
  recordsOf,
  rowsOf,
  withChange,
} from './changes.js';
import { LargeRecords } from './large-records.js';
import { FindingsNote, RecordsBrowser } from './records-browser.js';
import { allFindings, type DatasetRecord, isSame } from './values.js';

const PATH = '/v1/projects/{project_id}/datasets/{dataset_id}';
const EMPTY: DatasetRecord = { id: '', group: null, input: '', expected: '', fields: {} };

/** Shows the records of the dataset, or of an earlier version if the address names one. */
export function Records(props: {
  project: string;
  loaded: Query<Dataset>;
  changes: Changes | null;
  onChange: (next: (now: Changes | null) => Changes | null) => void;
}) {
  const { project, loaded, changes, onChange } = props;
  const dataset = loaded.data as Dataset;
  const version = Number(query.value.get('version') ?? dataset.version);
  if (version !== dataset.version) return <EarlierRecords project={project} dataset={dataset} version={version} />;
  if (dataset.next_cursor !== null)
    return (
      <>
        <FindingsNote findings={dataset.validation.findings} rows={[]} />
        <LargeRecords {...{ project, dataset, version }} onSaved={loaded.reload} />
      </>
    );
  return (
    <CurrentRecords
      project={project}
      dataset={dataset}
      changes={changes ?? noChanges(version)}
      update={(change) =>
        onChange((now) => {
          const next = change(now ?? noChanges(version));
          return countOf(next) > 0 ? next : null;
        })
      }
      loaded={loaded}
    />
  );
}

function EarlierRecords({ project, dataset, version }: { project: string; dataset: Dataset; version: number }) {
  const earlier = useQuery(`dataset ${dataset.id}@${version}`, () => readVersion(project, dataset.id, version));
  const place = `/projects/${project}/datasets/${dataset.id}`;
  return (
    <Loaded query={earlier} what={`version ${version}`}>
      {({ records, created_at, next_cursor }) => (
        <>
          <p class="note">
            This is version {version} of {formatTime(created_at)}.{' '}
            <a href={link(place)}>Show version {dataset.version}</a>, or{' '}
            <a href={link(place, { view: 'compare', with: version })}>compare the two</a>.
          </p>
          {next_cursor === null ? (
            <RecordsBrowser rows={rowsOf(records, noChanges(version))} findings={allFindings(records)} />
          ) : (
            <LargeRecords {...{ project, dataset, version }} />
          )}
        </>
      )}
    </Loaded>
  );
}

/** Shows the records. Keeps changes in this tab until they are saved or dropped. */
function CurrentRecords(props: {
  project: string;
  dataset: Dataset;
  changes: Changes;
  /** Replaces the current changes. `now` may have changes that are newer than the last drawing. */
  update: (change: (now: Changes) => Changes) => void;
  loaded: Query<Dataset>;
}) {
  const { project, dataset, changes, update, loaded } = props;
  const { id, version, records } = dataset;
  const findings = useMemo(() => allFindings(records), [records]); // the service lists only the first
  const [contested, setContested] = useState<readonly string[] | null>(null);
  const editable = can('edit_workspace') && dataset.state === 'editable';
  const count = can('edit_workspace') ? countOf(changes) : 0;
  useEffect(() => {
    // Leaving keeps the draft. Only closing the tab loses it, so the browser asks then.
    guardLeaving(count > 0 ? () => true : null);
    return () => guardLeaving(null);
  }, [count > 0]);

  /** Moves the changes to `now`, the version that the service has. */
  const moveOn = async (now: Dataset) => {
    const before =
      changes.version === version ? { records } : await readVersion(project, id, changes.version).catch(() => now);
    let changedThere: readonly string[] = [];
    update((mine) => {
      const moved = rebased(mine, before.records, now);
      changedThere = moved.contested;
      return moved.changes;
    });
    setContested(now.version === version ? null : changedThere);
    loaded.set(now);
  };
  const behind = count > 0 && changes.version !== version;
  useEffect(() => {
    if (behind) void (changes.version > version ? loaded.reload() : moveOn(dataset));
  }, [version, changes.version]);

  const rows = rowsOf(records, count > 0 && !behind ? changes : noChanges(version));
  /** The key that a save gave to the open record. */
  const moved = useRef<string | null>(null);
  const saving = useAction(async () => {
    const body = { version, records: recordsOf(rows) };
    try {
      const saved = await answer(api.PUT(PATH, { params: at(project, id), body }));
      update((now) => {
        const over = carriedOver(rows, records, now, saved);
        moved.current = over.keys.get(query.value.get('record') ?? '') ?? null;
        return over.changes;
      });
      if (moved.current) setQuery({ record: moved.current });
      setContested(null);
      loaded.set(saved);
      toast(`Version ${saved.version} is saved.`);
    } catch (reason) {
      const code = reason instanceof ApiError ? reason.code : null;
      if (code === 'stale_version' || code === 'dataset_frozen') await moveOn(await readDataset(project, id));
      throw reason;
    }
  });
  /** Saves the changes in a fork, because the dataset was frozen in the meantime. */
  const forking = useAction(async () => {
    const fork = await answer(api.POST(`${PATH}/fork`, { params: at(project, id) }));
    const body = { version: fork.version, records: recordsOf(rows) };
    await answer(api.PUT(PATH, { params: at(project, fork.id), body }));
    update(() => noChanges(version));
    navigate(link(`/projects/${project}/datasets/${fork.id}`));
  });
  const isShownAlready = ['stale_version', 'dataset_frozen'].includes(saving.error?.code ?? '');
  const drop = async () => {
    const text = `${plural(count, 'changed record')} will be as in version ${version} again.`;
    if (!(await confirmAct({ title: 'Drop the changes?', text, act: 'Drop' }))) return;
    saving.clear();
    setContested(null);
    update(() => noChanges(version));
  };
  const change = (row: Row, record: DatasetRecord | null | undefined) => {
    const saved = row.index === null ? undefined : records[row.index];
    update((now) => withChange(now, row.key, record && isSame(record, saved) ? undefined : record));
  };
  const add = () => {
    const key = newKey(changes);
    update((now) => withChange(now, key, EMPTY));
    setQuery({ record: key }, { replace: false });
  };
  return (
    <>
      {count > 0 && (
        <div class="note dataset-unsaved">
          <p role="status">
            <strong>{plural(count, 'changed record')}, not saved yet.</strong>
            {!editable && ' The dataset is frozen.'}
            {contested && ` Version ${version} was saved meanwhile. Your changes are now on top of it.`}
            {contested && contested.length > 0 && ` Changed there, too: ${contested.join(', ')}.`}
          </p>
          <div class="actions start">
            {editable ? (
              <button type="button" class="button primary" disabled={saving.busy} onClick={() => void saving.run()}>
                {saving.busy ? 'Saving …' : `Save as version ${version + 1}`}
              </button>
            ) : (
              <button type="button" class="button primary" disabled={forking.busy} onClick={() => void forking.run()}>
                {forking.busy ? 'Saving …' : 'Save in a fork'}
              </button>
            )}
            <button type="button" class="button" disabled={saving.busy || forking.busy} onClick={drop}>
              Drop the changes
            </button>
          </div>
        </div>
      )}
      <FormError error={forking.error ?? (isShownAlready ? undefined : saving.error)} />
      <FindingsNote findings={findings} rows={rows} />
      <RecordsBrowser
        rows={rows}
        findings={findings}
        onChange={editable ? change : undefined}
        onAdd={editable ? add : undefined}
        moved={moved}
      />
    </>
  );
}
