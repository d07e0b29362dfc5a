import { can } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { type Call, questionIn } from '../../shared/call-content.js';
import { ExportButton } from '../../shared/export-button.js';
import { formatCost, formatDuration, formatNumber, formatShare } from '../../shared/format.js';
import { Icon } from '../../shared/icon.js';
import { ProjectFrame, useProject } from '../../shared/project-frame.js';
import { usePaged } from '../../shared/query.js';
import { recordingOf } from '../../shared/recording.js';
import { link } from '../../shared/router.js';
import { Empty, JobState, Loaded, Loading, Time } from '../../shared/states.js';
import { type Column, More, Table } from '../../shared/table.js';
import { clearFilters, Filters, filterIn } from './filters.js';
import { type Names, useNames } from './names.js';
import { ScoreMark } from './score-mark.js';

const PATH = '/v1/projects/{project_id}/calls';
const PAGE = 50;
const MOST_SHOWN = 140;

/** A call of the list. It has no content, so that many of them need little memory. */
type Row = Omit<Call, 'request' | 'answer'> & { readonly question: string };

function rowOf({ request, answer: _, ...call }: Call): Row {
  return { ...call, question: questionIn({ request }).slice(0, MOST_SHOWN) };
}

export function Calls({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const id = parameters.project_id ?? '';
  const names = useNames(id);
  const project = useProject(id);
  const { filter, isFiltered } = filterIn();
  const path = { project_id: id };
  const calls = usePaged<Row>(`calls ${id} ${JSON.stringify(filter)}`, async (cursor) => {
    const query = { ...filter, limit: PAGE, ...(cursor && { cursor }) };
    const page = await answer(api.GET(PATH, { params: { path, query } }));
    return { items: page.calls.map(rowOf), next: page.next_cursor };
  });
  return (
    <ProjectFrame
      id={id}
      project={project}
      title="Calls"
      actions={
        <>
          <button type="button" class="button" disabled={calls.loading} onClick={() => void calls.reload()}>
            <Icon name="retry" /> Refresh
          </button>
          <ExportButton
            what={isFiltered ? 'the calls that fit the filters' : 'the calls'}
            ask={(format) =>
              api.GET(`${PATH}/export`, { params: { path, query: { ...filter, format } }, parseAs: 'blob' })
            }
          />
        </>
      }
    >
      <KeptNote project={id} spec={project.data?.spec} />
      <Filters names={names} />
      <Loaded query={calls} what="the calls">
        {(rows) =>
          rows.length > 0 ? (
            <>
              <Table label="Calls" columns={columns(id, names)} rows={rows} rowKey={(call) => call.id} />
              <More query={calls} />
            </>
          ) : isFiltered ? (
            <Empty icon="calls" title="No call fits these filters">
              <button type="button" class="button" onClick={clearFilters}>
                Show all calls
              </button>
            </Empty>
          ) : project.data ? (
            <None project={id} spec={project.data.spec} />
          ) : (
            <Loading what="the project" />
          )
        }
      </Loaded>
    </ProjectFrame>
  );
}

const SettingsLink = ({ project, class: look }: { project: string; class?: string }) => (
  <a class={look} href={link(`/projects/${project}/recording`)}>
    {can('edit_workspace') ? 'Change what is kept' : 'What is kept'}
  </a>
);

/** Tells what the list has. The place is as high before the project is loaded, so that nothing moves. */
function KeptNote({ project, spec }: { project: string; spec: Readonly<Record<string, unknown>> | undefined }) {
  const { share, content, days } = recordingOf(spec ?? {});
  const which =
    share >= 1 ? 'All calls are kept' : share > 0 ? `${formatShare(share)} of the calls are kept` : 'No call is kept';
  const how = content === 'full' ? 'with their content' : 'without prompts and answers';
  const whose = can('edit_workspace') ? '' : ' You see your own calls.';
  return (
    <p class="hint calls-kept">
      {spec && (
        <>
          {share > 0 ? `${which} for ${days === 1 ? 'a day' : `${days} days`}, ${how}.` : `${which} now.`}
          {whose} <SettingsLink project={project} />
        </>
      )}
    </p>
  );
}

/** Explains why the list is empty. */
function None({ project, spec }: { project: string; spec: Readonly<Record<string, unknown>> }) {
  const { share, content } = recordingOf(spec);
  if (share === 0)
    return (
      <Empty icon="calls" title="Recording is off">
        <p>The project keeps none of its calls, so there is nothing to read, to judge or to learn from.</p>
        <SettingsLink project={project} class="button" />
      </Empty>
    );
  return (
    <Empty icon="calls" title={can('edit_workspace') ? 'No call is kept yet' : 'None of your calls is kept yet'}>
      <p>
        Each chat and each embedding of this project appears here when it has ended
        {share < 1 ? `, ${formatShare(share)} of them` : ''}.
        {content === 'none' && ' Prompts and answers are not kept: the settings of the recording decide that.'}
      </p>
      {can('chat') && (
        <a class="button" href={link('/playground', { project })}>
          Ask in the playground
        </a>
      )}
    </Empty>
  );
}

const columns = (project: string, names: Names): readonly Column<Row>[] => [
  {
    title: 'Call',
    cell: (call) => (
      <>
        <a class="calls-question" href={link(`/projects/${project}/calls/${call.id}`)}>
          {call.question || <span class="hint">{call.kind === 'chat' ? 'Chat' : 'Embedding'} without content</span>}
        </a>
        {call.status !== 'succeeded' && (
          <span class="calls-small">
            <JobState of={call.status} />
          </span>
        )}
      </>
    ),
  },
  { title: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Model', minor: true, cell: ({ model_id: id }) => (id === null ? '–' : names.model(id)) },
  { title: 'Who', minor: true, cell: ({ account_id }) => names.person(account_id) },
  { title: 'Status', minor: true, cell: ({ status }) => <JobState of={status} /> },
  { title: 'Tokens', numeric: true, minor: true, cell: ({ usage }) => tokensOf(usage) },
  {
    title: 'Cost',
    numeric: true,
    minor: true,
    cell: ({ cost, currency }) => (cost === null ? '–' : `${formatCost(cost)} ${currency}`),
  },
  {
    title: 'Duration',
    numeric: true,
    minor: true,
    cell: ({ duration }) => (duration === null ? '–' : formatDuration(duration)),
  },
  { title: 'Feedback', cell: ({ feedback }) => <ScoreMark feedback={feedback} /> },
];

function tokensOf(usage: Call['usage']) {
  const { tokens_in: sent, tokens_out: made } = usage ?? { tokens_in: null, tokens_out: null };
  if (sent === null && made === null) return '–';
  const known = (count: number | null) => (count === null ? '?' : formatNumber(count));
  return (
    <span title={`${known(sent)} in, ${known(made)} out`}>
      {known(sent)} → {known(made)}
    </span>
  );
}
