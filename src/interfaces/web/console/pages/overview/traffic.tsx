import type { ComponentChildren } from 'preact';
import { can, isOperator, status } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Chart, type Line } from '../../shared/chart.js';
import { formatCompact, formatDuration, formatShare } from '../../shared/format.js';
import { useQuery } from '../../shared/query.js';
import { query, setQuery } from '../../shared/router.js';
import { Figure, Loaded } from '../../shared/states.js';
import { evaluatedTokens, figuresOf, type RangeName, rangeNamed, ranges, seriesOf, type UsageSeries } from './usage.js';

const EVERY_MS = 20_000;
/** The evaluations whose tokens are counted. Older ones are left out, because their results would slow the page down. */
const EVALUATIONS = { kind: 'evaluation', status: 'succeeded', limit: 20 } as const;

/** Shows calls, errors, latency and tokens over the range in the address. */
export function Traffic() {
  const name = rangeNamed(query.value.get('range'));
  const { bucket, seconds } = ranges[name];
  const usage = useQuery(
    `usage ${name}`,
    () => {
      // Without `since`, the service chooses the start by its own clock.
      const since = name === '7d' ? { since: String(Math.floor(Date.now() / 1000) - seconds) } : {};
      return answer(api.GET('/v1/usage', { params: { query: { bucket, ...since } } }));
    },
    { everyMs: EVERY_MS },
  );
  const evaluations = useQuery(
    can('read_jobs') ? 'newest evaluations' : null,
    () => answer(api.GET('/v1/jobs', { params: { query: EVALUATIONS } })),
    { everyMs: EVERY_MS },
  );
  return (
    <section class="stack overview-traffic" aria-label="Traffic">
      <header class="panel-head overview-head">
        <h2>
          Traffic <span class="hint">{whoseCalls()}</span>
        </h2>
        <RangeChoice chosen={name} />
      </header>
      <Loaded query={usage} what="the traffic">
        {(summary) => <Charts summary={summary} evaluations={evaluations.data?.jobs ?? []} range={name} />}
      </Loaded>
    </section>
  );
}

/** Returns whose calls the service counts for the caller. */
function whoseCalls(): string {
  if (status.value?.caller.role === 'member') return 'your own calls';
  return isOperator() ? 'calls of all teams' : 'calls of your team';
}

/** Tells whether an evaluation counts beside the calls of the caller. */
const isCounted = ({ requested_by }: Schemas['Job']): boolean => {
  const { caller } = status.value ?? {};
  return caller?.role !== 'member' || requested_by === caller.user?.id;
};

const RangeChoice = ({ chosen }: { chosen: RangeName }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a row of buttons in every browser.
  <div class="overview-ranges" role="group" aria-label="Range">
    {(Object.keys(ranges) as RangeName[]).map((name) => (
      <button
        key={name}
        type="button"
        class="button small"
        aria-pressed={name === chosen}
        onClick={() => setQuery({ range: name })}
      >
        {ranges[name].title}
      </button>
    ))}
  </div>
);

const orNone = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? '–' : format(value);

function Charts(props: { summary: Schemas['UsageSummary']; evaluations: readonly Schemas['Job'][]; range: RangeName }) {
  const { summary, evaluations, range: name } = props;
  const { title, step } = ranges[name];
  const range = title.replace(/^1 /, '');
  const evaluated = evaluatedTokens(evaluations.filter(isCounted));
  const { callsPerMinute, errorShare, tokensPerSecond, latency, firstToken, cost } = figuresOf(summary, evaluated);
  const series = seriesOf(summary, step, evaluated);
  const { times } = series;
  return (
    <div class="overview-columns">
      <Graph
        title="Calls"
        none="No call ended"
        figures={[
          ['Calls per minute', formatCompact(callsPerMinute)],
          ['Failed', orNone(errorShare, formatShare)],
        ]}
        {...{ times, range }}
        lines={[
          { name: 'Calls per minute', values: series.callsPerMinute },
          { name: 'Failed', values: series.failuresPerMinute, colour: 2 },
        ]}
        format={formatCompact}
      />
      <Graph
        title="Latency"
        none="No call ended"
        figures={[
          ['Median', orNone(latency?.p50, formatDuration)],
          ['95th percentile', orNone(latency?.p95, formatDuration)],
        ]}
        {...{ times, range }}
        lines={percentileLines(series.latency)}
        format={formatDuration}
      />
      <Graph
        title="Tokens"
        none="No answer was made"
        figures={[
          ['Tokens per second, in answers', formatCompact(tokensPerSecond)],
          ...(cost === null ? [] : [['Cost', `${cost} ${summary.currency}`] as const]),
        ]}
        {...{ times, range }}
        lines={[{ name: 'Tokens per second', values: series.tokensPerSecond, colour: 3 }]}
        format={formatCompact}
      />
      <Graph
        title="Time to first token"
        none="No answer was streamed"
        figures={[
          ['Median', orNone(firstToken?.p50, formatDuration)],
          ['95th percentile', orNone(firstToken?.p95, formatDuration)],
        ]}
        {...{ times, range }}
        lines={percentileLines(series.firstToken)}
        format={formatDuration}
      />
    </div>
  );
}

const percentileLines = ({ p50, p95 }: UsageSeries['latency']): readonly Line[] => [
  { name: 'Median', values: p50 },
  { name: '95th percentile', values: p95, colour: 4 },
];

function Graph(props: {
  title: string;
  figures: readonly (readonly [name: string, value: ComponentChildren])[];
  times: readonly number[];
  lines: readonly Line[];
  format: (value: number) => string;
  range: string;
  /** The text for empty lines. */
  none: string;
}) {
  const { title, figures, times, lines, format, range, none } = props;
  const words = figures.map(([name, value]) => `${name} ${value}`).join(', ');
  return (
    <section class="panel overview-graph" aria-label={title}>
      <h3>{title}</h3>
      <dl class="figures">
        {figures.map(([name, value]) => (
          <Figure key={name} name={name}>
            {value}
          </Figure>
        ))}
      </dl>
      {lines.some(({ values }) => values.some(Boolean)) ? (
        <Chart {...{ times, lines, format }} text={`${title} over the last ${range}: ${words}.`} />
      ) : (
        <p class="hint">{`${none} in the last ${range}.`}</p>
      )}
    </section>
  );
}
