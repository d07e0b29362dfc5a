import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Icon } from '../../shared/icon.js';
import { modelName } from '../../shared/models.js';
import { PagedTable, pageSize } from '../../shared/paged-table.js';
import { ProjectFrame, useProject } from '../../shared/project-frame.js';
import { usePaged, useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { SearchField, searchText } from '../../shared/search-field.js';
import { Empty, Loaded, State, Time } from '../../shared/states.js';
import { AliasesPanel } from './aliases-panel.js';
import { NewModel } from './new-model.js';

type Model = Schemas['Model'];

const PAGE = 50;

export const useAliases = (id: string) =>
  useQuery(`aliases ${id}`, () =>
    answer(api.GET('/v1/projects/{project_id}/models/aliases', { params: { path: { project_id: id } } })),
  );

export function Models({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const id = parameters.project_id ?? '';
  const project = useProject(id);
  const aliases = useAliases(id);
  const q = searchText();
  const models = usePaged<Model>(`models ${id} ${q ?? ''}`, async (cursor) => {
    const params = { path: { project_id: id }, query: { limit: pageSize(PAGE), q, ...(cursor && { cursor }) } };
    const page = await answer(api.GET('/v1/projects/{project_id}/models', { params }));
    return { items: page.models, next: page.next_cursor };
  });
  const mayEdit = can('edit_workspace');
  const columns = [
    {
      title: 'Model',
      sortBy: modelName,
      cell: (model: Model) => <a href={link(`/projects/${id}/models/${model.id}`)}>{modelName(model)}</a>,
    },
    { title: 'State', sortBy: ({ state }: Model) => state, cell: ({ state }: Model) => <State of={state} /> },
    {
      title: 'Named and used',
      cell: (model: Model) => (
        <span class="models-marks">
          {aliases.data?.aliases
            .filter(({ model_id }) => model_id === model.id)
            .map(({ alias }) => (
              <span key={alias} class="badge">
                {alias}
              </span>
            ))}
          {project.data?.runtime.model_id === model.id && <span class="badge">connected</span>}
        </span>
      ),
    },
    { title: 'Version', numeric: true, minor: true, cell: ({ version }: Model) => version },
    {
      title: 'Changed',
      minor: true,
      sortBy: ({ updated_at }: Model) => updated_at,
      cell: ({ updated_at }: Model) => <Time at={updated_at} />,
    },
  ];
  return (
    <ProjectFrame
      id={id}
      project={project}
      actions={
        mayEdit && (
          <button type="button" class="button primary" onClick={() => setQuery({ new: '1' })}>
            <Icon name="plus" /> New draft
          </button>
        )
      }
    >
      <div class="filters">
        <SearchField placeholder="Part of a name" />
      </div>
      <Loaded query={models} what="the models">
        {(rows) =>
          rows.length === 0 && q ? (
            <Empty icon="search" title="No model has this in its name">
              <button type="button" class="button" onClick={() => setQuery({ q: null })}>
                Show all models
              </button>
            </Empty>
          ) : rows.length === 0 ? (
            <Empty icon="models" title="There is no model yet">
              <p>Draft a model, register it, and connect it to the runtime: then the project answers.</p>
            </Empty>
          ) : (
            <>
              <PagedTable label="Models" rows={rows} columns={columns} query={models} />
              <AliasesPanel projectId={id} aliases={aliases} models={rows} />
            </>
          )
        }
      </Loaded>
      {mayEdit && query.value.get('new') && <NewModel projectId={id} onClose={() => setQuery({ new: null })} />}
    </ProjectFrame>
  );
}
