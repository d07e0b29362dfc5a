import { useEffect, useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { plural } from '../../shared/format.js';
import { Icon } from '../../shared/icon.js';
import { PagedTable, pageSize } from '../../shared/paged-table.js';
import { ProjectFrame } from '../../shared/project-frame.js';
import { usePaged } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { SearchField, searchText } from '../../shared/search-field.js';
import { Empty, Loaded, State, Time } from '../../shared/states.js';
import type { Column } from '../../shared/table.js';
import { ImportDialog } from './import.js';

type Entry = Schemas['DatasetEntry'];
const PAGE = 100;

export function Datasets({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const project = parameters.project_id as string;
  const q = searchText();
  const datasets = usePaged<Entry>(`datasets ${project} ${q ?? ''}`, async (cursor) => {
    const params = { path: { project_id: project }, query: { limit: pageSize(PAGE), q, cursor: cursor ?? undefined } };
    const page = await answer(api.GET('/v1/projects/{project_id}/datasets', { params }));
    return { items: page.datasets, next: page.next_cursor };
  });
  const mayEdit = can('edit_workspace');
  const open = () => setQuery({ import: 'file' }, { replace: false });
  const [dropped, setDropped] = useState<File | null>(null);
  useEffect(() => {
    if (!mayEdit) return;
    const onDragOver = (event: DragEvent) => event.preventDefault();
    const onDrop = (event: DragEvent) => {
      event.preventDefault();
      setDropped(event.dataTransfer?.files[0] ?? null);
      if (!query.value.get('import')) open();
    };
    addEventListener('dragover', onDragOver);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onDragOver);
      removeEventListener('drop', onDrop);
    };
  }, [mayEdit]);
  return (
    <ProjectFrame
      id={project}
      actions={
        mayEdit && (
          <button type="button" class="button primary" onClick={open}>
            <Icon name="upload" /> Import a dataset
          </button>
        )
      }
    >
      <div class="filters">
        <SearchField placeholder="Part of a name" />
      </div>
      <Loaded query={datasets} what="the datasets">
        {(found) =>
          found.length === 0 && q ? (
            <Empty icon="search" title="No dataset has this in its name">
              <button type="button" class="button" onClick={() => setQuery({ q: null })}>
                Show all datasets
              </button>
            </Empty>
          ) : found.length === 0 ? (
            <Empty icon="datasets" title="This project has no dataset yet">
              <p>A dataset has questions with the answers that you expect. A frozen one measures a model.</p>
              {mayEdit && <p>Drop a CSV, JSON or JSON Lines file here.</p>}
            </Empty>
          ) : (
            <PagedTable label="Datasets" columns={columnsOf(project)} rows={found} query={datasets} />
          )
        }
      </Loaded>
      {mayEdit && query.value.get('import') && (
        <ImportDialog project={project} dropped={dropped} onTaken={() => setDropped(null)} />
      )}
    </ProjectFrame>
  );
}

const columnsOf = (project: string): Column<Entry>[] => [
  {
    title: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ id, name }) => <a href={link(`/projects/${project}/datasets/${id}`)}>{name}</a>,
  },
  {
    title: 'State',
    sortBy: ({ state }) => state,
    cell: ({ state, validation }) => <DatasetState state={state} validation={validation} />,
  },
  {
    title: 'Records',
    sortBy: ({ record_count }) => record_count,
    cell: ({ record_count }) => record_count,
    numeric: true,
  },
  { title: 'Version', cell: ({ version }) => version, numeric: true, minor: true },
  {
    title: 'Changed',
    sortBy: ({ updated_at }) => updated_at,
    cell: ({ updated_at }) => <Time at={updated_at} />,
    minor: true,
  },
];

/** Shows whether a dataset is frozen, and the number of findings that prevent it from being frozen. */
export const DatasetState = ({ state, validation }: Pick<Entry, 'state' | 'validation'>) => (
  <>
    <State of={state} />
    {!validation.valid && <span class="badge dataset-badge">{plural(validation.count, 'finding')}</span>}
  </>
);
