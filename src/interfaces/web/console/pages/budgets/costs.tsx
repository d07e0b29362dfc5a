import { isOperator, status } from '../../shared/account.js';
import { amountOf } from '../../shared/amounts.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Chart } from '../../shared/chart.js';
import { formatCompact, formatCost, formatNumber } from '../../shared/format.js';
import { Choices, Frame, Panel } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { query } from '../../shared/router.js';
import { useGroupNames } from '../../shared/scope-names.js';
import { Empty, Figure, Loaded } from '../../shared/states.js';
import { type Column, Table } from '../../shared/table.js';
import { costRangeNamed, costRanges, costSeries, type GroupSums, groupSums, totalCost } from './cost-series.js';
import { SpendTabs } from './spend-tabs.js';

const EVERY_MS = 60_000;
const MOST_LINES = 4;
/** The service leaves older entries out. */
const MOST_ENTRIES = 4_000;

const GROUPS = [
  ['project', 'By project'],
  ['model', 'By model'],
  ['account', 'By account'],
  ['key', 'By key'],
] as const;
type Group = (typeof GROUPS)[number][0];

/** Shows what calls have cost over time, by project, model, account or key. */
export function Costs() {
  const range = costRangeNamed(query.value.get('range'));
  const by = GROUPS.find(([group]) => group === query.value.get('by'))?.[0] ?? 'project';
  const { bucket, title } = costRanges[range];
  const usage = useQuery(
    `costs ${range} ${by}`,
    () => answer(api.GET('/v1/usage', { params: { query: { bucket, group_by: by } } })),
    { everyMs: EVERY_MS },
  );
  return (
    <Frame title="Costs" about={`The cost of ${whoseCalls()} over the last ${title}.`} tabs={<SpendTabs />}>
      <div class="filters">
        <Choices label="Groups" name="by" options={GROUPS} />
        <Choices
          label="Range"
          name="range"
          options={[
            ['30d', '30 days'],
            ['24h', '24 hours'],
          ]}
        />
      </div>
      <Loaded query={usage} what="the costs">
        {(summary) => <Outcome summary={summary} by={by} />}
      </Loaded>
    </Frame>
  );
}

/** Returns whose calls the service counts for the caller. */
function whoseCalls(): string {
  if (status.value?.caller.role === 'member') return 'your own calls';
  return isOperator() ? 'the calls of all teams' : 'the calls of your team';
}

function Outcome({ summary, by }: { summary: Schemas['UsageSummary']; by: Group }) {
  const nameOf = useGroupNames(by);
  const { currency, usage } = summary;
  const { step, title } = costRanges[costRangeNamed(query.value.get('range'))];
  const groups = groupSums(usage);
  const total = totalCost(groups);
  if (total === null) {
    return (
      <Empty icon="budgets" title="No call had a price">
        <p>Models and deployments have prices in their forms. Calls after that have costs.</p>
      </Empty>
    );
  }
  const priced = groups.filter(({ cost }) => cost !== null).slice(0, MOST_LINES);
  const { times, lines } = costSeries(
    summary,
    step,
    priced.map(({ group }) => group),
  );
  const sum = `${formatCost(total)} ${currency}`;
  const text = `Costs over the last ${title}: ${sum} in all.`;
  const columns: Column<GroupSums>[] = [
    { title: by.charAt(0).toUpperCase() + by.slice(1), cell: ({ group }) => nameOf(group) },
    { title: 'Calls', numeric: true, cell: ({ calls }) => formatNumber(calls) },
    { title: 'Tokens in', numeric: true, minor: true, cell: ({ tokens_in }) => formatNumber(tokens_in) },
    { title: 'Tokens out', numeric: true, minor: true, cell: ({ tokens_out }) => formatNumber(tokens_out) },
    {
      title: `Cost (${currency})`,
      numeric: true,
      cell: ({ cost }) => (cost === null ? 'no price' : formatCost(amountOf(cost))),
    },
  ];
  return (
    <>
      <Panel title="Costs over time">
        <dl class="figures">
          <Figure name="In all">{sum}</Figure>
        </dl>
        <Chart
          times={times}
          lines={lines.map((values, at) => ({
            name: nameOf(priced[at]?.group ?? null),
            values,
            colour: (at + 1) as 1 | 2 | 3 | 4,
          }))}
          format={formatCompact}
          text={text}
        />
        {groups.length > MOST_LINES && <p class="hint">{`The chart has the ${MOST_LINES} dearest of them.`}</p>}
        {usage.length >= MOST_ENTRIES && (
          <p class="note warn">There are more entries than the service sums up at once: the oldest are missing.</p>
        )}
      </Panel>
      <Panel title="Sums">
        <Table label="Costs" columns={columns} rows={groups} rowKey={({ group }) => group ?? ''} />
      </Panel>
    </>
  );
}
