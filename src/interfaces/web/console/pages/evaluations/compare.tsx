import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { formatDuration, formatNumber, formatShare, formatTime, plural } from '../../shared/format.js';
import { Frame, Panel } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { link, query, setQuery } from '../../shared/router.js';
import { Empty, Figure, Loaded } from '../../shared/states.js';
import { useEvaluation } from './evaluation.js';
import { loadRows, RowHead, Text } from './rows.js';
import { ShareChart } from './shares.js';
import {
  groupName,
  isComparable,
  type Job,
  type Result,
  runtimeName,
  type Summary,
  summaryOf,
  textOf,
} from './summary.js';

type Comparison = Schemas['EvaluationComparison'];
const NEWEST = 200;
const SHOWN = 50;

export function ComparePage({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  return <Compare key={parameters.job_id} id={parameters.job_id as string} />;
}

/** Compares an evaluation with another one of the same records. */
function Compare({ id }: { id: string }) {
  const job = useEvaluation(id);
  const title = job.data?.name ?? 'Evaluation';
  const summary = job.data ? summaryOf(job.data) : null;
  return (
    <Frame
      title="Compare two runs"
      above={[
        { title: 'Evaluations', href: link('/evaluations') },
        { title, href: link(`/evaluations/${id}`) },
      ]}
    >
      <Loaded query={job} what="the evaluation">
        {(found) =>
          summary ? (
            <WithAnother job={found} summary={summary} />
          ) : (
            <Empty icon="evaluations" title="This evaluation has no score" />
          )
        }
      </Loaded>
    </Frame>
  );
}

function WithAnother({ job, summary }: { job: Job; summary: Summary }) {
  const filter = { kind: 'evaluation', status: 'succeeded', project_id: summary.project.id, limit: NEWEST } as const;
  const others = useQuery(`comparable ${summary.project.id}`, () =>
    answer(api.GET('/v1/jobs', { params: { query: filter } })),
  );
  const fitting = (others.data?.jobs ?? []).filter((one) => {
    const otherSummary = summaryOf(one);
    return one.id !== job.id && otherSummary !== null && isComparable(summary, otherSummary);
  });
  const earlier = fitting.find(({ created_at }) => created_at < job.created_at) ?? fitting[0];
  const chosen = query.value.get('with') ?? earlier?.id ?? null;
  const comparison = useQuery(chosen && `compare ${job.id} ${chosen}`, () =>
    answer(
      api.GET('/v1/jobs/{job_id}/compare', { params: { path: { job_id: job.id }, query: { with: chosen ?? '' } } }),
    ),
  );
  const known = fitting.some((one) => one.id === chosen);
  return (
    <Loaded query={others} what="the other runs">
      {() =>
        chosen === null ? (
          <Empty icon="evaluations" title="There is no other run to compare with">
            <p>Two runs can be compared if they scored the same records by the same metric.</p>
          </Empty>
        ) : (
          <>
            <SelectField
              label={`This run of ${formatTime(job.created_at)} compared with`}
              value={chosen}
              options={[
                ...(known ? [] : [[chosen, chosen] as const]),
                ...fitting.map((one) => [one.id, nameOf(one)] as const),
              ]}
              onChange={(event) => setQuery({ with: event.currentTarget.value })}
            />
            <Loaded query={comparison} what="the comparison">
              {(found) => <Differences key={chosen} job={job} comparison={found} />}
            </Loaded>
          </>
        )
      }
    </Loaded>
  );
}

function nameOf(job: Job): string {
  const summary = summaryOf(job);
  const model = summary && runtimeName(summary);
  return `${job.name}, ${formatTime(job.created_at)}: ${model}, specification version ${summary?.project.version}, ${formatShare(summary?.accuracy ?? 0)}`;
}

function Differences({ job, comparison }: { job: Job; comparison: Comparison }) {
  const { before, after, turned_right, turned_wrong, groups, right, wrong, changed, latency, tokens } = comparison;
  const newer = useQuery(`compared rows ${comparison.job_id}`, () => rowsByRecord(comparison.job_id));
  const other = useQuery(`compared rows ${comparison.with}`, () => rowsByRecord(comparison.with));
  const bars = (one: Pick<Comparison, 'before' | 'after'>) => [
    { name: 'earlier', share: one.before, tone: 'before' as const },
    { name: 'this', share: one.after, tone: 'now' as const },
  ];
  const change = after.accuracy - before.accuracy;
  return (
    <>
      <dl class="figures">
        <Figure name="Earlier run">{formatShare(before.accuracy)}</Figure>
        <Figure name="This run">{formatShare(after.accuracy)}</Figure>
        <Figure name="Change">{signed(change, formatShare)}</Figure>
        <Figure name="Got better">{turned_right}</Figure>
        <Figure name="Got worse">{turned_wrong}</Figure>
        {latency && (
          <Figure name="Median latency" hint="Of the records that both runs have answered.">
            <Moved {...latency} format={formatDuration} />
          </Figure>
        )}
        {tokens && (
          <Figure name="Tokens" hint="Of the records for which both runtimes report tokens.">
            <Moved before={allOf(tokens.before)} after={allOf(tokens.after)} format={formatNumber} />
          </Figure>
        )}
      </dl>
      <Panel title="Score by group">
        <ShareChart
          label="Scores of both runs by group with 95 % confidence intervals"
          rows={[
            { title: 'All', bars: bars(comparison) },
            ...(groups.length > 1 ? groups.map((one) => ({ title: groupName(one.group), bars: bars(one) })) : []),
          ]}
        />
      </Panel>
      <Loaded query={newer} what="the records of this run">
        {(now) => (
          <Loaded query={other} what="the records of the earlier run">
            {(then) => (
              <>
                <Turned job={job} title="Got worse" turned={wrong} now={now} then={then} />
                <Turned job={job} title="Got better" turned={right} now={now} then={then} />
                <Turned job={job} title="Another answer, same verdict" turned={changed} now={now} then={then} />
                <Turned
                  job={job}
                  title="The same answer"
                  turned={[...now.values()].filter(isSame(comparison, then))}
                  first={0}
                  now={now}
                  then={then}
                />
              </>
            )}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

type Rows = ReadonlyMap<string, Result>;

const rowsByRecord = async (job: string): Promise<Rows> =>
  new Map((await loadRows(job)).map((row) => [row.record_id, row]));

/** Returns whether both runs have scored a record and neither its score nor its answer has changed. */
function isSame({ right, wrong, changed }: Comparison, then: Rows) {
  const moved = new Set([...right, ...wrong, ...changed].map(({ record_id }) => record_id));
  return ({ record_id }: Result): boolean => then.has(record_id) && !moved.has(record_id);
}

const allOf = ({ prompt, completion }: { prompt: number; completion: number }): number => prompt + completion;

const signed = (change: number, format: (value: number) => string): string =>
  `${change > 0 ? '+' : change < 0 ? '−' : ''}${format(Math.abs(change))}`;

/** Shows a value of this run, with the difference from the earlier run. */
function Moved(props: { before: number; after: number; format: (value: number) => string }) {
  const { before, after, format } = props;
  return (
    <>
      {format(after)}
      <span class="hint evaluation-under">
        {signed(after - before, format)} from {format(before)}
      </span>
    </>
  );
}

/** Shows records with the outputs, times and tokens of both runs. `first` of them are shown at first. */
function Turned(props: {
  job: Job;
  title: string;
  turned: readonly { readonly record_id: string }[];
  first?: number;
  now: Rows;
  then: Rows;
}) {
  const { job, title, turned, first = SHOWN, now, then } = props;
  const [most, setMost] = useState(first);
  const pairs = turned.flatMap(({ record_id }) => {
    const [after, before] = [now.get(record_id), then.get(record_id)];
    return after && before ? [{ after, before }] : [];
  });
  return (
    <Panel title={`${title} (${turned.length})`}>
      {turned.length === 0 && <p class="hint">No record.</p>}
      <ul class="evaluation-rows">
        {pairs.slice(0, most).map(({ after, before }) => (
          <li key={after.record_id}>
            <RowHead job={job} row={after}>
              <span class="hint">{costChange(before, after)}</span>
            </RowHead>
            <div class="evaluation-texts four">
              <Text title="Input" text={textOf(after.input)} />
              <Text title="Expected" text={textOf(after.expected)} />
              <Output title="Earlier" row={before} />
              <Output title="Now" row={after} />
            </div>
          </li>
        ))}
      </ul>
      {pairs.length > most && (
        <button type="button" class="button" onClick={() => setMost(most + SHOWN)}>
          Show {most > 0 && 'more of '}
          {plural(pairs.length, 'record')}
        </button>
      )}
    </Panel>
  );
}

/** Returns the latency and tokens of a row with their differences, such as `84 ms (+4 ms), 7 tokens (−1)`. */
function costChange(before: Result, after: Result): string {
  const latency = `${formatDuration(after.latency)} (${signed(after.latency - before.latency, formatDuration)})`;
  if (!after.tokens || !before.tokens) return latency;
  const [now, then] = [allOf(after.tokens), allOf(before.tokens)];
  return `${latency}, ${plural(now, 'token')} (${signed(now - then, formatNumber)})`;
}

const Output = ({ title, row }: { title: string; row: Result }) => (
  <Text title={title} text={row.error ?? row.output ?? ''} tone={row.score === 1 ? 'right' : 'wrong'} />
);
