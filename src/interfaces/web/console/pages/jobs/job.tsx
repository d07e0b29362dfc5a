import type { ComponentChildren } from 'preact';
import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { CopyButton } from '../../shared/copy-button.js';
import { confirmAct } from '../../shared/dialog.js';
import { FormError, useAction } from '../../shared/form.js';
import { formatCost, formatDuration, formatNumber, formatTime } from '../../shared/format.js';
import { Frame, Panel } from '../../shared/frame.js';
import { JsonText } from '../../shared/json-text.js';
import { modelName } from '../../shared/models.js';
import { useQuery } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { JobState, Loaded, Time } from '../../shared/states.js';
import { Table } from '../../shared/table.js';
import { toast } from '../../shared/toasts.js';
import { jobName } from './job-link.js';
import { hasProgress, ProgressOf } from './progress.js';

type Job = Schemas['Job'];

const CHANGING_EVERY_MS = 2_000;

const isOver = ({ status }: Job) => status !== 'queued' && status !== 'running';

/** Returns the place of the kept call of a job. Null: its call is of a kind that is never kept, or it has not ended. */
const keptCallOf = ({ kind, project_id, id, ...job }: Job): string | null =>
  (kind === 'chat' || kind === 'embedding') && project_id && job.finished_at !== null
    ? `/projects/${project_id}/calls/${id}`
    : null;

export function OneJob({ parameters: { job_id = '' } }: { parameters: Readonly<Record<string, string>> }) {
  const params = { path: { job_id } };
  const job = useQuery(`job ${job_id}`, () => answer(api.GET('/v1/jobs/{job_id}', { params })), {
    everyMs: (data) => (data && isOver(data) ? null : CHANGING_EVERY_MS),
  });
  const team = useQuery(can('read_team') ? 'users' : null, () => answer(api.GET('/v1/auth/users')));
  const requester = team.data?.users.find(({ id }) => id === job.data?.requested_by);
  const isOwn = requester !== undefined;
  const cancel = useAction(async () => {
    const text = 'What it has done so far is kept. It cannot be started again.';
    if (!(await confirmAct({ title: 'Cancel this job?', text, act: 'Cancel the job' }))) return;
    job.set(await answer(api.POST('/v1/jobs/{job_id}/cancel', { params })));
    toast('The job is cancelled.');
  });
  const mayCancel = job.data && !isOver(job.data) && can('cancel_jobs') && isOwn;
  const keptCall = job.data && isOwn && keptCallOf(job.data);
  return (
    <Frame
      title={job.data ? jobName(job.data) : 'Job'}
      above={[{ title: 'Jobs', href: link('/jobs') }]}
      about={job.data && <JobState of={job.data.status} />}
      actions={
        <>
          {job.data?.kind === 'evaluation' && (
            <a class="button" href={link(`/evaluations/${job_id}`)}>
              Open the evaluation
            </a>
          )}
          {keptCall && (
            <a class="button" href={link(keptCall)}>
              Open the kept call
            </a>
          )}
          {mayCancel && (
            <button type="button" class="button danger" disabled={cancel.busy} onClick={() => void cancel.run()}>
              Cancel the job
            </button>
          )}
        </>
      }
    >
      <FormError error={cancel.error} />
      <Loaded query={job} what="the job">
        {(data) => (
          <>
            {data.error && (
              <div class="note bad">
                <p dir="auto">{data.error}</p>
              </div>
            )}
            <div class="jobs-facts">
              <Panel title="Job">
                <dl class="facts">
                  <Fact name="Id">
                    <code>{data.id}</code> <CopyButton text={data.id} />
                  </Fact>
                  <Fact name="Kind">{data.kind}</Fact>
                  <Fact name="Mode">{data.mode === 'sync' ? 'sync: a caller waits for its end' : 'async'}</Fact>
                  <Fact name="Requested by">
                    {data.requested_by === 'master'
                      ? 'the master key'
                      : (requester?.name ?? <code>{data.requested_by}</code>)}
                  </Fact>
                  <JobObjects job={data} />
                  <LogLinks job={data} />
                </dl>
              </Panel>
              <Panel title="Times">
                <dl class="facts">
                  <Moment name="Created" at={data.created_at} />
                  <Moment name="Started" at={data.started_at} />
                  <Moment name="Finished" at={data.finished_at} />
                  <Span name="In the queue" from={data.created_at} to={data.started_at} />
                  <Fact name="Duration">{data.duration !== null && formatDuration(data.duration)}</Fact>
                  {data.mode === 'sync' && <Span name="In all" from={data.created_at} to={data.finished_at} />}
                  <Fact name="Progress">{hasProgress(data) && <ProgressOf job={data} />}</Fact>
                </dl>
              </Panel>
              {data.usage && <CallPanel usage={data.usage} job={data} />}
            </div>
            {data.attempts && data.attempts.length > 1 && <AttemptsPanel attempts={data.attempts} />}
            {data.result !== null && <Result result={data.result} />}
          </>
        )}
      </Loaded>
    </Frame>
  );
}

/** Shows a fact with its name, and nothing if the fact has no value. */
const Fact = ({ name, children }: { name: string; children: ComponentChildren }) =>
  children ? (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  ) : null;

const Moment = ({ name, at }: { name: string; at: number | null }) => (
  <Fact name={name}>
    {at !== null && (
      <>
        {formatTime(at)}{' '}
        <span class="hint">
          (<Time at={at} />)
        </span>
      </>
    )}
  </Fact>
);

/** Shows the seconds between two moments, if both are known. */
const Span = ({ name, from, to }: { name: string; from: number; to: number | null }) => (
  <Fact name={name}>{to !== null && formatDuration(Math.max(0, to - from))}</Fact>
);

/** Shows the models that a call has tried, in order. */
const AttemptsPanel = ({ attempts }: { attempts: NonNullable<Job['attempts']> }) => (
  <Panel title="Attempts">
    <Table
      label="Attempts"
      rows={attempts}
      rowKey={(attempt) => attempt.model_id}
      columns={[
        { title: 'Model', cell: ({ model_id }) => <code>{model_id}</code>, long: true },
        { title: 'Outcome', cell: ({ outcome }) => outcome.replaceAll('_', ' ') },
        { title: 'Time', cell: ({ ms }) => formatDuration(ms / 1_000), numeric: true },
      ]}
    />
  </Panel>
);

/** Shows the figures of a call, known at its end, or the sums of the model calls of an evaluation so far. */
function CallPanel({ usage, job }: { usage: NonNullable<Job['usage']>; job: Job }) {
  const { duration, cost, currency } = job;
  const { tokens_in, tokens_out, time_to_first_token, calls, seconds } = usage;
  const isKnown = tokens_in !== null || tokens_out !== null;
  return (
    <Panel title={calls === null ? 'Call' : 'Model calls'}>
      <dl class="facts">
        <Fact name="Calls">{calls !== null && formatNumber(calls)}</Fact>
        <Fact name="Time">{seconds !== null && formatDuration(seconds)}</Fact>
        <Fact name="Tokens in">{tokens_in !== null && formatNumber(tokens_in)}</Fact>
        <Fact name="Tokens out">{tokens_out !== null && formatNumber(tokens_out)}</Fact>
        <Fact name="Speed">
          {calls === null && tokens_out && duration
            ? `${formatNumber(Math.round(tokens_out / duration))} tokens/s`
            : null}
        </Fact>
        <Fact name="First token">{time_to_first_token !== null && `after ${formatDuration(time_to_first_token)}`}</Fact>
        <Fact name="Cost">{cost !== null && `${formatCost(cost)} ${currency}`}</Fact>
      </dl>
      {!isKnown && calls === null && (
        <p class="hint">{duration === null ? 'Tokens are counted at the end.' : 'No tokens were reported.'}</p>
      )}
    </Panel>
  );
}

/** Shows the project, dataset and model of a job. Those of other teams cannot be opened, so they have no links. */
function JobObjects({ job: { project_id, dataset_id, model_id } }: { job: Job }) {
  const projects = useQuery(can('read_workspace') ? 'projects' : null, () => answer(api.GET('/v1/projects')));
  const project = projects.data?.projects.find(({ id }) => id === project_id);
  const params = { path: { project_id: project?.id ?? '' } };
  const models = useQuery(project && model_id ? `models of ${project.id}` : null, () =>
    answer(api.GET('/v1/projects/{project_id}/models', { params })),
  );
  const datasets = useQuery(project && dataset_id ? `datasets of ${project.id}` : null, () =>
    answer(api.GET('/v1/projects/{project_id}/datasets', { params })),
  );
  const model = models.data?.models.find(({ id }) => id === model_id);
  const dataset = datasets.data?.datasets.find(({ id }) => id === dataset_id);
  const place = (title: string, to: string) => (project ? <a href={link(to)}>{title}</a> : <code>{title}</code>);
  return (
    <>
      <Fact name="Project">{project_id && place(project?.name ?? project_id, `/projects/${project_id}`)}</Fact>
      <Fact name="Dataset">
        {dataset_id && place(dataset?.name ?? dataset_id, `/projects/${project_id}/datasets/${dataset_id}`)}
      </Fact>
      <Fact name="Model">
        {model_id && place(model ? modelName(model) : model_id, `/projects/${project_id}/models/${model_id}`)}
      </Fact>
      <Fact name="Runtime">{model && runtimeOf(model.spec)}</Fact>
    </>
  );
}

/** Returns how a model runs, such as `onnx, tiny-chat` or `openai, gpt at http://…`. */
function runtimeOf({ runtime, path, dtype, model, base_url }: Schemas['Model']['spec']): string {
  const what = [runtime, path ?? model, dtype].filter((part) => typeof part === 'string' && part !== '').join(', ');
  return typeof base_url === 'string' ? `${what} at ${base_url}` : what;
}

const REQUEST_ID = /"request_id":"([A-Za-z0-9_-]{1,64})"/;

/** Shows links to the log lines of the job and of the request that created it. */
function LogLinks({ job: { id } }: { job: Job }) {
  const lines = useQuery(can('read_monitoring') ? `log of ${id}` : null, () =>
    answer(api.GET('/v1/logs', { params: { query: { job_id: id, tail: 20 } } })),
  );
  if (!lines.data || lines.data.count === 0) return null;
  const requestId = lines.data.lines.map((line) => REQUEST_ID.exec(line)?.[1]).find(Boolean);
  return (
    <>
      <Fact name="Request">
        {requestId && (
          <>
            <a href={link('/logs', { request_id: requestId })}>
              <code>{requestId}</code>
            </a>{' '}
            <CopyButton text={requestId} />
          </>
        )}
      </Fact>
      <Fact name="Log">
        <a href={link('/logs', { job_id: id })}>Lines of this job</a>
      </Fact>
    </>
  );
}

function Result({ result }: { result: unknown }) {
  const text = typeof result === 'string' ? result : JSON.stringify(result, null, 2);
  return (
    <Panel title="Result" actions={<CopyButton text={text} />}>
      <pre dir="auto">{typeof result === 'string' ? text : <JsonText text={text} />}</pre>
    </Panel>
  );
}
