import { can, status } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { formatDuration } from '../../shared/format.js';
import { Frame } from '../../shared/frame.js';
import { PagedTable, pageSize } from '../../shared/paged-table.js';
import { usePaged, useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { SearchField, searchText } from '../../shared/search-field.js';
import { Empty, JobState, Loaded, Time } from '../../shared/states.js';
import type { Column } from '../../shared/table.js';
import { jobName } from './job-link.js';
import { hasProgress, ProgressOf } from './progress.js';

type Job = Schemas['Job'];

const EVERY_MS = 10_000;
const PAGE = 50;
const ANY = ['', 'Any'] as const;
const statuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
const kinds = ['chat', 'embedding', 'prediction', 'evaluation', 'external'] as const;

const chosen = <Value extends string>(name: string, values: readonly Value[]): Value | undefined =>
  values.find((value) => value === query.value.get(name));

export function Jobs() {
  const filter = {
    status: chosen('status', statuses),
    kind: chosen('kind', kinds),
    project_id: query.value.get('project') || undefined,
    q: searchText(),
  };
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const jobs = usePaged(
    `jobs ${JSON.stringify(filter)}`,
    async (cursor) => {
      const page = { limit: pageSize(PAGE), ...(cursor ? { cursor } : {}) };
      const { jobs: items, next_cursor } = await answer(
        api.GET('/v1/jobs', { params: { query: { ...filter, ...page } } }),
      );
      return { items, next: next_cursor };
    },
    { everyMs: EVERY_MS },
  );
  // The jobs come first on a slow connection. Until the projects are there, the status has the names of most of them.
  const mayRead = can('read_workspace') && jobs.data !== undefined;
  const projects = useQuery(mayRead ? 'projects' : null, () => answer(api.GET('/v1/projects')));
  const names = new Map([
    ...(status.value?.runtimes ?? []).map(({ project_id, project_name }) => [project_id, project_name] as const),
    ...(projects.data?.projects ?? []).map(({ id, name }) => [id, name] as const),
  ]);
  const columns: readonly Column<Job>[] = [
    { title: 'Job', sortBy: jobName, cell: (job) => <a href={link(`/jobs/${job.id}`)}>{jobName(job)}</a> },
    { title: 'Status', sortBy: ({ status }) => status, cell: (job) => <JobState of={job.status} /> },
    {
      title: 'Project',
      sortBy: ({ project_id: id }) => id && names.get(id),
      minor: true,
      cell: ({ project_id: id }) =>
        id && (names.has(id) ? <a href={link(`/projects/${id}`)}>{names.get(id)}</a> : 'of another team'),
    },
    {
      title: 'Progress',
      minor: true,
      cell: (job) => job.mode === 'async' && hasProgress(job) && <ProgressOf job={job} />,
    },
    { title: 'Created', sortBy: ({ created_at }) => created_at, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: 'Duration',
      sortBy: ({ duration }) => duration,
      numeric: true,
      cell: ({ duration }) => (duration === null ? '–' : formatDuration(duration)),
    },
  ];
  const filterBy = (name: string) => (event: Event) =>
    setQuery({ [name]: (event.currentTarget as HTMLSelectElement).value });
  return (
    <Frame title="Jobs" about="Calls to models, evaluations, and work that runs elsewhere.">
      <div class="filters">
        <SearchField placeholder="Part of a name" />
        <SelectField
          label="Kind"
          value={filter.kind ?? ''}
          options={[ANY, ...kinds.map((kind) => [kind, kind] as const)]}
          onChange={filterBy('kind')}
        />
        <SelectField
          label="Status"
          value={filter.status ?? ''}
          options={[ANY, ...statuses.map((status) => [status, status] as const)]}
          onChange={filterBy('status')}
        />
        {can('read_workspace') && (
          <SelectField
            label="Project"
            value={filter.project_id ?? ''}
            options={[ANY, ...names]}
            onChange={filterBy('project')}
          />
        )}
      </div>
      <Loaded query={jobs} what="the jobs">
        {(rows) =>
          rows.length > 0 ? (
            <PagedTable label="Jobs" columns={columns} rows={rows} query={jobs} />
          ) : isFiltered ? (
            <Empty icon="jobs" title="No job fits these filters">
              <button
                type="button"
                class="button"
                onClick={() => setQuery({ kind: null, status: null, project: null, q: null })}
              >
                Show all jobs
              </button>
            </Empty>
          ) : (
            <Empty icon="jobs" title="There is no job yet">
              <p>Every chat, prediction and evaluation is listed here.</p>
            </Empty>
          )
        }
      </Loaded>
    </Frame>
  );
}
