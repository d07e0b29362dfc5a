import { useEffect, useRef } from 'preact/hooks';
import { can, offers, whyNotYet } from '../../shared/account.js';
import { ActionButton } from '../../shared/action-button.js';
import { answer, api } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { ExportButton } from '../../shared/export-button.js';
import { formatCost, formatDuration, formatNumber, formatShare } from '../../shared/format.js';
import { Frame, Panel } from '../../shared/frame.js';
import { type Query, useQuery } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { Figure, JobState, Loaded, Time } from '../../shared/states.js';
import { report } from '../../shared/toasts.js';
import { loadRows, Rows } from './rows.js';
import { ShareChart } from './shares.js';
import { readDatasets } from './start.js';
import { groupName, isOpen, type Job, metricOf, runtimeName, type Summary, summaryOf } from './summary.js';

const WHILE_OPEN_MS = 2_000;

/** Reads an evaluation, and repeats this until it has ended. */
export const useEvaluation = (id: string) =>
  useQuery<Job>(`job ${id}`, () => answer(api.GET('/v1/jobs/{job_id}', { params: { path: { job_id: id } } })), {
    everyMs: (job) => (job && isOpen(job) ? WHILE_OPEN_MS : null),
  });

export function EvaluationPage({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  return <Evaluation key={parameters.job_id} id={parameters.job_id as string} />;
}

function Evaluation({ id }: { id: string }) {
  const job = useEvaluation(id);
  const rows = useQuery(`rows ${id}`, () => loadRows(id));
  const done = job.data && `${job.data.status} ${job.data.progress?.done}`;
  const seen = useRef(done);
  useEffect(() => {
    if (seen.current !== undefined && seen.current !== done) void rows.reload();
    seen.current = done;
  }, [done]);
  const summary = job.data && summaryOf(job.data);
  return (
    <Frame
      title={job.data?.name ?? 'Evaluation'}
      above={[{ title: 'Evaluations', href: link('/evaluations') }]}
      actions={job.data && <Acts job={job.data} query={job} summary={summary ?? null} />}
    >
      <Loaded query={job} what="the evaluation">
        {(found) => (
          <>
            <Progress job={found} />
            {summary && <Scores summary={summary} job={found} />}
            <Panel title="Rows">
              <Loaded query={rows} what="the rows">
                {(all) => <Rows job={found} rows={all} />}
              </Loaded>
            </Panel>
          </>
        )}
      </Loaded>
    </Frame>
  );
}

/** Shows a button that cancels an open evaluation, or links to a comparison and to a new evaluation. */
function Acts({ job, query, summary }: { job: Job; query: Query<Job>; summary: Summary | null }) {
  const cancel = async () => {
    const text = 'The rows that are scored already stay. It cannot be continued.';
    if (!(await confirmAct({ title: 'Cancel this evaluation?', text, act: 'Cancel the evaluation' }))) return;
    await report(
      answer(api.POST('/v1/jobs/{job_id}/cancel', { params: { path: { job_id: job.id } } })),
      'The evaluation is cancelled.',
    );
    await query.reload();
  };
  if (isOpen(job)) {
    return (
      can('cancel_jobs') && (
        <button type="button" class="button danger" onClick={cancel}>
          Cancel
        </button>
      )
    );
  }
  const again = { start: 'yes', project: job.project_id, dataset: job.dataset_id };
  return (
    <>
      <ExportButton
        what="the results"
        ask={(format) => {
          const params = { path: { job_id: job.id }, query: { format } };
          return api.GET('/v1/jobs/{job_id}/results/export', { params, parseAs: 'blob' });
        }}
      />
      {summary && (
        <a class="button" href={link(`/evaluations/${job.id}/compare`)}>
          Compare
        </a>
      )}
      {offers('run_evaluations') && (
        <ActionButton whyNot={whyNotYet('run_evaluations')} class="button primary" href={link('/evaluations', again)}>
          Evaluate again
        </ActionButton>
      )}
    </>
  );
}

function Progress({ job }: { job: Job }) {
  const { status, progress, error, created_at, duration } = job;
  return (
    <div class="evaluation-progress">
      <p role="status">
        <JobState of={status} />{' '}
        {isOpen(job) && progress && `${progress.done} of ${progress.total} records are scored.`}
        {status === 'queued' && ' It waits for its turn: a team runs one evaluation at a time.'}
        <span class="hint">
          {' '}
          Started <Time at={created_at} />
          {duration !== null && `, took ${formatDuration(duration)}`}
        </span>
      </p>
      {isOpen(job) && progress?.total ? (
        <progress aria-label="Scored records" value={progress.done} max={progress.total} />
      ) : null}
      {error && <p class="note bad">{error}</p>}
    </div>
  );
}

function Scores({ summary, job: { cost, currency } }: { summary: Summary; job: Job }) {
  const { accuracy, interval, right, count, errors, latency, tokens, groups, groups_left_out } = summary;
  const threshold = useThreshold(summary);
  const [low = 0, high = 0] = interval;
  const all = { title: 'All', bars: [{ name: '', share: summary, tone: 'now' as const }] };
  const byGroup = groups.map((share) => ({
    title: groupName(share.group),
    bars: [{ name: '', share, tone: 'now' as const }],
  }));
  return (
    <>
      <dl class="figures">
        <Figure name="Score" hint="The interval below the score has a confidence of 95 %.">
          {formatShare(accuracy)}
          <span class="hint evaluation-under">
            {formatShare(low)} to {formatShare(high)}
          </span>
        </Figure>
        <Figure name="Right">
          {right} of {count}
        </Figure>
        <Figure name="Errors">{errors}</Figure>
        {latency.p50 !== null && (
          <Figure name="Median latency" hint={`95th percentile: ${formatDuration(latency.p95 ?? 0)}`}>
            {formatDuration(latency.p50)}
          </Figure>
        )}
        {tokens && <Figure name="Tokens">{formatNumber(tokens.prompt + tokens.completion)}</Figure>}
        {cost !== null && (
          <Figure name="Cost">
            {formatCost(cost)} {currency}
          </Figure>
        )}
      </dl>
      <Panel title="Score by group">
        <ShareChart
          label="Score by group with 95 % confidence intervals"
          rows={groups.length > 1 ? [all, ...byGroup] : [all]}
          threshold={threshold}
        />
        {threshold !== undefined && (
          <p class="hint">
            The dashed line is the threshold, {formatShare(threshold)}. The score{' '}
            {accuracy >= threshold ? 'reaches' : 'does not reach'} it.
          </p>
        )}
        {groups_left_out > 0 && <p class="hint">{groups_left_out} smaller groups are left out.</p>}
      </Panel>
      <Panel title="Measured on">
        <Measured summary={summary} />
      </Panel>
    </>
  );
}

/** Returns the threshold in the evaluated version of the specification. */
function useThreshold({ project: { id, version } }: Summary): number | undefined {
  const spec = useQuery(`project ${id}@${version}`, () =>
    answer(api.GET('/v1/projects/{project_id}/versions/{version}', { params: { path: { project_id: id, version } } })),
  );
  return spec.data?.spec.acceptance?.threshold ?? undefined;
}

function Measured({ summary }: { summary: Summary }) {
  const { dataset, model, project, runtime } = summary;
  const place = `/projects/${project.id}`;
  const datasets = useQuery(`all datasets ${project.id}`, () => readDatasets(project.id));
  const name = datasets.data?.datasets.find(({ id }) => id === dataset.id)?.name ?? dataset.id;
  return (
    <dl class="facts">
      <dt>Dataset</dt>
      <dd>
        <a href={link(`${place}/datasets/${dataset.id}`)}>{name}</a>, version {dataset.version},{' '}
        <code title={`SHA-256 of the records: ${dataset.content_sha256}`}>{dataset.content_sha256.slice(0, 12)}</code>
      </dd>
      <dt>Model</dt>
      <dd>
        <a href={link(`${place}/models/${model.id}`)}>{runtimeName(summary)}</a>, version {model.version}
      </dd>
      <dt>Specification</dt>
      <dd>
        <a href={link(`${place}/history`)}>version {project.version}</a>
      </dd>
      <dt>Metric</dt>
      <dd>{metricOf(summary)}</dd>
      <dt>Response format</dt>
      <dd>{runtime.response_format ?? 'text'}</dd>
    </dl>
  );
}
