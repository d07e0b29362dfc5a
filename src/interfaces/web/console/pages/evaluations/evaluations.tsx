import { can, offers, whyNotYet } from '../../shared/account.js';
import { ActionButton } from '../../shared/action-button.js';
import { answer, api } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { formatDuration, formatShare } from '../../shared/format.js';
import { Frame } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { usePaged, useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { Empty, Loaded, State, Time } from '../../shared/states.js';
import { type Column, More, Table } from '../../shared/table.js';
import { StartDialog } from './start.js';
import { isOpen, type Job, summaryOf } from './summary.js';

const PAGE = 50;
const EVERY_MS = 10_000;

export function Evaluations() {
  const project = query.value.get('project');
  const projects = useQuery('projects', () => answer(api.GET('/v1/projects')));
  const nameOf = new Map(projects.data?.projects.map(({ id, name }) => [id, name]));
  const evaluations = usePaged<Job>(
    `evaluations ${project}`,
    async (cursor) => {
      const filter = { kind: 'evaluation', project_id: project ?? undefined } as const;
      const page = await answer(
        api.GET('/v1/jobs', { params: { query: { ...filter, limit: PAGE, cursor: cursor ?? undefined } } }),
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
      <div class="evaluation-filters">
        <SelectField
          label="Project"
          value={project ?? ''}
          options={[['', 'All projects'], ...[...nameOf].map(([id, name]) => [id, name] as const)]}
          onChange={(event) => setQuery({ project: event.currentTarget.value || null })}
        />
      </div>
      <Loaded query={evaluations} what="the evaluations">
        {(found) =>
          found.length === 0 ? (
            <Empty
              icon="evaluations"
              title={project ? 'This project has no evaluation yet' : 'There is no evaluation yet'}
            >
              <p>An evaluation asks the model of a project every record of a frozen dataset and scores its answers.</p>
            </Empty>
          ) : (
            <Table label="Evaluations" columns={columnsOf(nameOf)} rows={found} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      <More query={evaluations} />
      {mayStart && query.value.get('start') && <StartDialog projects={projects} />}
    </Frame>
  );
}

const columnsOf = (nameOf: ReadonlyMap<string, string>): Column<Job>[] => [
  {
    title: 'Dataset',
    cell: ({ id, name }) => (name === null ? 'Of another team' : <a href={link(`/evaluations/${id}`)}>{name}</a>),
  },
  { title: 'Status', cell: (job) => <Status job={job} /> },
  { title: 'Score', cell: (job) => <Score job={job} />, numeric: true },
  { title: 'Project', cell: ({ project_id }) => nameOf.get(project_id ?? '') ?? '', minor: true },
  { title: 'Started', cell: ({ created_at }) => <Time at={created_at} />, minor: true },
  {
    title: 'Took',
    cell: ({ duration }) => (duration === null ? '' : formatDuration(duration)),
    numeric: true,
    minor: true,
  },
];

const Status = ({ job }: { job: Job }) => (
  <>
    <State of={job.status} />
    {isOpen(job) && job.progress && (
      <span class="badge evaluation-badge">
        {job.progress.done} of {job.progress.total}
      </span>
    )}
  </>
);

function Score({ job }: { job: Job }) {
  const summary = summaryOf(job);
  if (!summary) return null;
  const [low, high] = summary.interval as [number, number];
  return (
    <>
      {formatShare(summary.accuracy)}{' '}
      <span class="hint">
        {formatShare(low)} to {formatShare(high)}
      </span>
    </>
  );
}
