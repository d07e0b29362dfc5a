import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { Frame } from '../../shared/frame.js';
import { Icon, IconButton } from '../../shared/icon.js';
import { PagedTable, pageSize } from '../../shared/paged-table.js';
import { usePaged } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { SearchField, searchText } from '../../shared/search-field.js';
import { Empty, Loaded, State, Time } from '../../shared/states.js';
import { report } from '../../shared/toasts.js';
import { NewProject } from './new-project.js';

type Project = Schemas['Project'];

const PAGE = 100;

export function Projects() {
  const q = searchText();
  const projects = usePaged(`projects ${q ?? ''}`, async (cursor) => {
    const page = await answer(
      api.GET('/v1/projects', { params: { query: { limit: pageSize(PAGE), q, ...(cursor && { cursor }) } } }),
    );
    return { items: page.projects, next: page.next_cursor };
  });
  const [deleting, setDeleting] = useState<string | null>(null);
  const remove = async ({ id, name }: Project) => {
    const sure = await confirmAct({
      title: `Delete ${name}?`,
      text: 'Its datasets, models and conversations go with it, frozen and registered ones included. This cannot be undone.',
      act: 'Delete the project',
    });
    if (!sure) return;
    setDeleting(id);
    await report(
      answer(api.DELETE('/v1/projects/{project_id}', { params: { path: { project_id: id } } })),
      `${name} is deleted.`,
    );
    setDeleting(null);
    await projects.reload();
  };
  const creating = query.value.get('new') !== null && can('edit_workspace');
  const create = can('edit_workspace') && (
    <button type="button" class="button primary" onClick={() => setQuery({ new: '1' })}>
      <Icon name="plus" /> New project
    </button>
  );
  return (
    <Frame title="Projects" actions={create}>
      <div class="filters">
        <SearchField placeholder="Part of a name" />
      </div>
      <Loaded query={projects} what="the projects">
        {(rows) =>
          rows.length === 0 && q ? (
            <Empty icon="search" title="No project has this in its name">
              <button type="button" class="button" onClick={() => setQuery({ q: null })}>
                Show all projects
              </button>
            </Empty>
          ) : rows.length === 0 ? (
            <Empty icon="projects" title="There is no project yet">
              <p>A project holds a goal, the datasets that measure it and the models that serve it.</p>
            </Empty>
          ) : (
            <PagedTable label="Projects" rows={rows} columns={columns(deleting, remove)} query={projects} />
          )
        }
      </Loaded>
      {creating && <NewProject onClose={() => setQuery({ new: null })} />}
    </Frame>
  );
}

const columns = (deleting: string | null, remove: (project: Project) => Promise<void>) => [
  {
    title: 'Project',
    sortBy: ({ name }: Project) => name,
    cell: ({ id, name, spec }: Project) => (
      <>
        <a class="projects-name" href={link(`/projects/${id}`)}>
          {name}
        </a>
        {typeof spec.goal === 'string' && <p class="projects-goal">{spec.goal}</p>}
      </>
    ),
  },
  {
    title: 'Runtime',
    sortBy: ({ runtime }: Project) => runtime.state,
    cell: ({ runtime }: Project) => <State of={runtime.state} />,
  },
  {
    title: 'Review',
    sortBy: ({ status }: Project) => status,
    minor: true,
    cell: ({ status, version }: Project) => `${status === 'reviewed' ? 'Reviewed' : 'Draft'}, version ${version}`,
  },
  {
    title: 'Changed',
    minor: true,
    sortBy: ({ updated_at }: Project) => updated_at,
    cell: ({ updated_at }: Project) => <Time at={updated_at} />,
  },
  ...(can('delete_project')
    ? [
        {
          title: 'Actions',
          acts: true,
          cell: (project: Project) => (
            <IconButton
              icon="trash"
              label={`Delete ${project.name}`}
              disabled={deleting === project.id}
              onClick={() => void remove(project)}
            />
          ),
        },
      ]
    : []),
];
