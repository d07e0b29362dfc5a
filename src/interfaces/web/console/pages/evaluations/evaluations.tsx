import { can, offers, whyNotYet } from '../../shared/account.js';
import { ActionButton } from '../../shared/action-button.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { formatDuration, formatShare, formatTime } from '../../shared/format.js';
import { Frame } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { modelName } from '../../shared/models.js';
import { PagedTable, pageSize } from '../../shared/paged-table.js';
import { usePaged, useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { SearchField, searchText } from '../../shared/search-field.js';
import { Empty, JobState, Loaded } from '../../shared/states.js';
import type { Column } from '../../shared/table.js';
import { StartDialog } from './start.js';
import { isOpen, type Job, runtimeName, summaryOf } from './summary.js';

type Project = Schemas['Project'];

const PAGE = 50;
const EVERY_MS = 10_000;

export function Evaluations() {
  const project = query.value.get('project');
  const projects = useQuery('projects', () => answer(api.GET('/v1/projects')));
  const known = new Map(projects.data?.projects.map((one) => [one.id, one]));
  const q = searchText();
  const evaluations = usePaged<Job>(
    `evaluations ${project} ${q ?? ''}`,
    async (cursor) => {
      const filter = { kind: 'evaluation', project_id: project ?? undefined, q } as const;
      const page = await answer(
        api.GET('/v1/jobs', { params: { query: { ...filter, limit: pageSize(PAGE), cursor: cursor ?? undefined } } }),
      );
      return { items: page.jobs, next: page.next_cursor };
    },
    { everyMs: EVERY_MS },
  );
  const mayStart = can('run_evaluations');
  const start = () => setQuery({ start: 'yes' }, { replace: false });
  return (
    <Frame
      title="Evaluations"
      actions={
        offers('run_evaluations') && (
          <ActionButton whyNot={whyNotYet('run_evaluations')} class="button primary" onClick={start}>
            <Icon name="play" /> Start an evaluation
          </ActionButton>
        )
      }
    >
      <div class="filters">
        <SearchField placeholder="Part of a name" />
        <SelectField
          label="Project"
          value={project ?? ''}
          options={[['', 'All projects'], ...[...known.values()].map(({ id, name }) => [id, name] as const)]}
          onChange={(event) => setQuery({ project: event.currentTarget.value || null })}
        />
      </div>
      <Loaded query={evaluations} what="the evaluations">
        {(found) =>
          found.length === 0 && q ? (
            <Empty icon="search" title="No evaluation has this in its name">
              <button type="button" class="button" onClick={() => setQuery({ q: null })}>
                Show all evaluations
              </button>
            </Empty>
          ) : found.length === 0 ? (
            <Empty
              icon="evaluations"
              title={project ? 'This project has no evaluation yet' : 'There is no evaluation yet'}
            >
              <p>An evaluation asks the model of a project every record of a frozen dataset and scores its answers.</p>
            </Empty>
          ) : (
            <PagedTable label="Evaluations" columns={columnsOf(known)} rows={found} query={evaluations} />
          )
        }
      </Loaded>
      {mayStart && query.value.get('start') && <StartDialog projects={projects} />}
    </Frame>
  );
}

const columnsOf = (projects: ReadonlyMap<string, Project>): Column<Job>[] => [
  {
    title: 'Evaluation',
    sortBy: ({ name }) => name,
    long: true,
    cell: ({ id, name, created_at }) => (
      <>
        {name === null ? 'Of another team' : <a href={link(`/evaluations/${id}`)}>{name}</a>}
        <time class="hint evaluation-under" dateTime={new Date(created_at * 1000).toISOString()}>
          {formatTime(created_at)}
        </time>
      </>
    ),
  },
  {
    title: 'Model',
    long: true,
    cell: (job) => <Measured job={job} project={projects.get(job.project_id ?? '')} />,
  },
  { title: 'Score', sortBy: (job) => summaryOf(job)?.accuracy, cell: (job) => <Score job={job} /> },
  {
    title: 'Project',
    sortBy: ({ project_id }) => projects.get(project_id ?? '')?.name,
    cell: ({ project_id }) => projects.get(project_id ?? '')?.name ?? '',
    minor: true,
  },
  {
    title: 'Took',
    sortBy: ({ duration }) => duration,
    cell: ({ duration }) => (duration === null ? '' : formatDuration(duration)),
    numeric: true,
    minor: true,
  },
];

/** Shows the model and the versions that are known: all of them at the end of the evaluation. */
function Measured({ job, project }: { job: Job; project: Project | undefined }) {
  const summary = summaryOf(job);
  const model = project?.models.find(({ id }) => id === job.model_id);
  const name = model ? modelName(model) : summary ? runtimeName(summary) : job.model_id;
  const version = summary?.model.version ?? model?.version;
  return (
    <>
      {name}
      {version !== undefined && `, version ${version}`}
      {summary && <span class="hint evaluation-under">specification version {summary.project.version}</span>}
    </>
  );
}

/** Shows the score with its interval, or the state of a job without a score. */
function Score({ job }: { job: Job }) {
  const summary = summaryOf(job);
  if (summary) {
    const [low, high] = summary.interval as [number, number];
    return (
      <>
        {formatShare(summary.accuracy)}
        <span class="hint evaluation-under">
          {formatShare(low)} to {formatShare(high)}
        </span>
      </>
    );
  }
  return (
    <>
      <JobState of={job.status} />
      {isOpen(job) && job.progress && (
        <span class="hint evaluation-under">
          {job.progress.done} of {job.progress.total}
        </span>
      )}
    </>
  );
}
