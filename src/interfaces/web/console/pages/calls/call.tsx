import { can } from '../../shared/account.js';
import { AddToDataset, type RecordChoice } from '../../shared/add-to-dataset.js';
import { answer, api } from '../../shared/api.js';
import { type Call, questionIn } from '../../shared/call-content.js';
import { CopyButton } from '../../shared/copy-button.js';
import { confirmAct } from '../../shared/dialog.js';
import { formatCost, formatNumber, formatTime } from '../../shared/format.js';
import { Panel } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { ProjectFrame } from '../../shared/project-frame.js';
import { type Query, useQuery } from '../../shared/query.js';
import { link, navigate, query, setQuery } from '../../shared/router.js';
import { ErrorNote, JobState, Loaded } from '../../shared/states.js';
import { toast, toastError } from '../../shared/toasts.js';
import { CallContent } from './content.js';
import { FeedbackPanel } from './feedback-panel.js';
import { type Names, useNames } from './names.js';
import { Waterfall } from './waterfall.js';

const PATH = '/v1/projects/{project_id}/calls/{call_id}';

export function CallPage({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const { project_id: project = '', call_id: id = '' } = parameters;
  return <OneCall key={id} project={project} id={id} />;
}

function OneCall({ project, id }: { project: string; id: string }) {
  const params = { path: { project_id: project, call_id: id } };
  const call = useQuery(`call ${project} ${id}`, () => answer(api.GET(PATH, { params })));
  const names = useNames(project);
  // The last answer of a deleted call is not shown any more.
  const isMissing = call.error?.status === 404;
  const loaded = isMissing ? undefined : call.data;
  const remove = async () => {
    const text = 'Its content and the feedback on it are deleted. The figures of its job stay.';
    if (!(await confirmAct({ title: 'Delete this kept call?', text, act: 'Delete the kept call' }))) return;
    try {
      await answer(api.DELETE(PATH, { params }));
      toast('The kept call is deleted.');
      navigate(link(`/projects/${project}/calls`), { replace: true });
    } catch (reason) {
      toastError(reason);
    }
  };
  return (
    <ProjectFrame
      id={project}
      title={loaded ? `Call of ${formatTime(loaded.created_at)}` : 'Call'}
      actions={loaded && <Acts project={project} call={loaded} remove={remove} />}
    >
      {isMissing && call.error ? (
        <ErrorNote error={call.error}>
          <a class="button small" href={link(`/projects/${project}/recording`)}>
            What the project keeps
          </a>
          <a class="button small" href={link(`/projects/${project}/calls`)}>
            All calls
          </a>
        </ErrorNote>
      ) : (
        <Loaded query={call} what="the call">
          {(found) => <Parts project={project} call={found} query={call} names={names} />}
        </Loaded>
      )}
      {loaded && query.value.get('add') !== null && (
        <AddToDataset project={project} choices={choicesOf(loaded)} onClose={() => setQuery({ add: null })} />
      )}
    </ProjectFrame>
  );
}

/** Returns the ways to make a record of a call. A correction is better than the answer that it corrects. */
function choicesOf({ id, answer: made, feedback }: Call): readonly RecordChoice[] {
  const isCorrected = feedback.some(({ is_current, correction }) => is_current && correction !== null);
  const of = (words: string, expected: 'answer' | 'correction' | 'none'): RecordChoice => ({
    words,
    body: { from_calls: [{ call_id: id, expected }] },
  });
  return [
    ...(isCorrected ? [of('The correction of the feedback', 'correction')] : []),
    ...(made === null ? [] : [of('The answer of the call', 'answer')]),
    of('None yet', 'none'),
  ];
}

function Acts({ project, call, remove }: { project: string; call: Call; remove: () => Promise<void> }) {
  const hasMessages = call.kind === 'chat' && questionIn(call) !== '';
  return (
    <>
      {hasMessages && can('chat') && (
        <a class="button" href={link('/playground', { project, call: call.id })}>
          <Icon name="playground" /> Open in the playground
        </a>
      )}
      {call.request !== null && can('edit_workspace') && (
        <button type="button" class="button" onClick={() => setQuery({ add: '1' })}>
          <Icon name="datasets" /> Add to a dataset
        </button>
      )}
      <button type="button" class="button danger" onClick={() => void remove()}>
        <Icon name="trash" /> Delete the kept call
      </button>
    </>
  );
}

function Parts(props: { project: string; call: Call; query: Query<Call>; names: Names }) {
  const { project, call, query: loaded, names } = props;
  return (
    <div class="main-and-side">
      <div class="stack">
        <Notes project={project} call={call} />
        <CallContent call={call} />
      </div>
      <div class="stack">
        <FeedbackPanel call={call} names={names} reload={loaded.reload} />
        <Panel title="Times">
          <Waterfall call={call} names={names} />
        </Panel>
        <Panel title="Call">
          <Facts project={project} call={call} names={names} />
        </Panel>
      </div>
    </div>
  );
}

/** Tells what is not there, and why. */
function Notes({ project, call }: { project: string; call: Call }) {
  const settings = <a href={link(`/projects/${project}/recording`)}>The recording settings</a>;
  return (
    <>
      {call.failure && (
        <p class="note bad">
          The call {call.status === 'cancelled' ? 'was cancelled' : 'failed'}: {call.failure.replaceAll('_', ' ')}.
        </p>
      )}
      {call.content === 'none' && (
        <p class="note">The prompt and the answer of this call are not kept. {settings} decide that for later calls.</p>
      )}
      {call.content === 'unmaskable' && (
        <p class="note warn">
          The prompt and the answer are not kept, because they could not be masked in time. {settings} name the kinds
          and patterns that are masked.
        </p>
      )}
      {call.truncated && (
        <p class="note warn">
          Only the beginning is kept here, because the prompt or the answer was too long. The caller got all of it.
        </p>
      )}
    </>
  );
}

function Facts({ project, call, names }: { project: string; call: Call; names: Names }) {
  const { usage, cost, currency, model_id, account_id, key_id, expires_at, answer_id } = call;
  const count = (value: number | null | undefined) => (value == null ? 'not reported' : formatNumber(value));
  return (
    <dl class="facts">
      <dt>Status</dt>
      <dd>
        <JobState of={call.status} />
      </dd>
      <dt>Model</dt>
      <dd>
        {model_id ? <a href={link(`/projects/${project}/models/${model_id}`)}>{names.model(model_id)}</a> : 'none'}
      </dd>
      <dt>Who</dt>
      <dd>{names.person(account_id)}</dd>
      <dt>By</dt>
      <dd>
        {key_id ? <a href={link(`/projects/${project}/calls`, { key: key_id })}>key …{key_id.slice(-6)}</a> : 'session'}
      </dd>
      <dt>Tokens in</dt>
      <dd>{count(usage?.tokens_in)}</dd>
      <dt>Tokens out</dt>
      <dd>{count(usage?.tokens_out)}</dd>
      <dt>Cost</dt>
      <dd>{cost === null ? 'none' : `${formatCost(cost)} ${currency}`}</dd>
      <dt>Job</dt>
      <dd>
        <a href={link(`/jobs/${call.id}`)}>{call.kind} job</a>
      </dd>
      <dt>Kept until</dt>
      <dd>{formatTime(expires_at)}</dd>
      <dt>Id</dt>
      <dd>
        <code>{call.id}</code> <CopyButton text={call.id} />
      </dd>
      {answer_id && (
        <>
          <dt>Id of the answer</dt>
          <dd>
            <code>{answer_id}</code>
          </dd>
        </>
      )}
    </dl>
  );
}
