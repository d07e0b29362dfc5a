import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { plural } from '../../shared/format.js';
import { Panel } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { query, setQuery } from '../../shared/router.js';
import { Empty, Loaded } from '../../shared/states.js';
import { at, type Dataset } from './calls.js';
import { BASE_FIELDS, type DatasetRecord, textOf, valueAt } from './values.js';
import { useVersions } from './versions.js';

type Comparison = Schemas['DatasetComparison'];
type Changed = Comparison['changed'][number];
const SHOWN = 50;

/** Compares the dataset with an earlier version or with another dataset. */
export function Compare({ project, dataset }: { project: string; dataset: Dataset }) {
  const { id, version } = dataset;
  const versions = useVersions(project, dataset);
  const others = useQuery(`all datasets ${project}`, () =>
    answer(api.GET('/v1/projects/{project_id}/datasets', { params: { path: { project_id: project } } })),
  );
  const earlier = (versions.data ?? []).filter((one) => one.version !== version);
  const other = (others.data?.datasets ?? []).filter((one) => one.id !== id);
  const usual = dataset.forked_from ? `${dataset.forked_from.dataset_id}@${dataset.forked_from.version}` : undefined;
  const chosen = query.value.get('with') ?? usual ?? earlier[0]?.id ?? null;
  const comparison = useQuery(chosen && `compare ${id}@${version} ${chosen}`, () =>
    answer(
      api.GET('/v1/projects/{project_id}/datasets/{dataset_id}/compare', {
        params: { ...at(project, id), query: { with: chosen ?? '' } },
      }),
    ),
  );
  const options = [
    ...earlier.map((one) => [one.id, `Version ${one.version}`] as const),
    ...other.map((one) => [one.id, one.name] as const),
  ];
  const known = chosen === null || options.some(([value]) => value === chosen);
  return (
    <>
      <SelectField
        label="Compare with"
        value={chosen ?? ''}
        options={[
          ...(chosen === null ? [['', 'Choose a version or a dataset'] as const] : []),
          ...(known ? [] : [[chosen, chosen === usual ? 'The original of this fork' : chosen] as const]),
          ...options,
        ]}
        onChange={(event) => setQuery({ with: event.currentTarget.value })}
      />
      {chosen === null ? (
        <Loaded query={versions} what="the versions">
          {() => (
            <Loaded query={others} what="the datasets">
              {() =>
                options.length === 0 && (
                  <Empty icon="datasets" title="There is nothing to compare with yet">
                    <p>Save a second version, fork this dataset, or import another one.</p>
                  </Empty>
                )
              }
            </Loaded>
          )}
        </Loaded>
      ) : (
        <Loaded query={comparison} what="the comparison">
          {(found) => <Differences comparison={found} />}
        </Loaded>
      )}
    </>
  );
}

function Differences({ comparison }: { comparison: Comparison }) {
  const { added, removed, changed, counts, unchanged, next_cursor } = comparison;
  if (counts.added + counts.removed + counts.changed === 0) {
    return <Empty icon="check" title={`All ${plural(unchanged, 'record')} are the same`} />;
  }
  return (
    <>
      <p role="status">
        {counts.added} added, {counts.removed} removed, {counts.changed} changed, {unchanged} unchanged.
        {next_cursor !== null && ' Only the first differences are listed here.'}
      </p>
      <Part title="Changed" items={changed}>
        {(one) => <ChangedRecord key={one.id} record={one} />}
      </Part>
      <Part title="Added" items={added}>
        {(one) => <WholeRecord key={one.id} record={one} kind="added" />}
      </Part>
      <Part title="Removed" items={removed}>
        {(one) => <WholeRecord key={one.id} record={one} kind="removed" />}
      </Part>
    </>
  );
}

function Part<T>(props: { title: string; items: readonly T[]; children: (item: T) => preact.ComponentChildren }) {
  const { title, items, children } = props;
  const [shown, setShown] = useState(SHOWN);
  if (items.length === 0) return null;
  return (
    <Panel title={`${title} (${items.length})`}>
      <ul class="dataset-differences">{items.slice(0, shown).map(children)}</ul>
      {items.length > shown && (
        <button type="button" class="button" onClick={() => setShown(shown + SHOWN)}>
          Show more
        </button>
      )}
    </Panel>
  );
}

/** Shows the two states of a record beside each other, but only the fields that differ. */
const ChangedRecord = ({ record: { id, fields, before, after } }: { record: Changed }) => (
  <li>
    <h3 dir="auto">{id}</h3>
    {fields.map((field) => (
      <div key={field} class="dataset-difference">
        <h4>{field.replace(/^fields\./, '')}</h4>
        <Side kind="removed" value={before && valueAt(before, field)} />
        <Side kind="added" value={after && valueAt(after, field)} />
      </div>
    ))}
  </li>
);

const Side = ({ kind, value }: { kind: 'added' | 'removed'; value: unknown }) => (
  <div class={`dataset-side ${kind}`}>
    <span class="hint">{kind === 'removed' ? 'Before' : 'Now'}</span>
    {textOf(value ?? '') === '' ? <p class="hint">empty</p> : <p dir="auto">{textOf(value)}</p>}
  </div>
);

const WholeRecord = ({ record, kind }: { record: DatasetRecord; kind: 'added' | 'removed' }) => (
  <li>
    <h3>{record.id}</h3>
    <div class={`dataset-side ${kind}`}>
      {[...BASE_FIELDS.slice(1), ...Object.keys(record.fields).map((name) => `fields.${name}`)].map((field) => (
        <p key={field} dir="auto">
          <span class="hint">{field.replace(/^fields\./, '')}</span> {textOf(valueAt(record, field))}
        </p>
      ))}
    </div>
  </li>
);
