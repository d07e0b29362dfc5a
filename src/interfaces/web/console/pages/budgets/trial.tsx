import { amountOf, nanosOf, paidCalls, type TrialPrices, trialCost } from '../../shared/amounts.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { useDraft } from '../../shared/draft.js';
import { Field } from '../../shared/form.js';
import { formatCost, formatNumber } from '../../shared/format.js';
import { Frame, Panel } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { useGroupNames } from '../../shared/scope-names.js';
import { Empty, Figure, Loaded } from '../../shared/states.js';
import { type Column, Table } from '../../shared/table.js';
import { type GroupSums, groupSums, totalCost } from './cost-series.js';
import { SpendTabs } from './spend-tabs.js';

const EMPTY = { input: '', output: '', per_call: '' };
type Typed = typeof EMPTY;

const FIELDS = [
  ['input', 'Input, for a million tokens'],
  ['output', 'Output, for a million tokens'],
  ['per_call', 'For each call'],
] as const;

/** Returns the price, 0 for no text, or null for text that is no price. */
function priceOf(text: string): bigint | null {
  const nanos = text.trim() === '' ? 0n : nanosOf(text);
  return nanos !== null && nanos >= 0n ? nanos : null;
}

/** Shows what the calls of the last 30 days would have cost with other prices. */
export function Trial() {
  const [kept, keep] = useDraft<Typed>('trial prices');
  const typed = kept ?? EMPTY;
  const [input, output, perCall] = [typed.input, typed.output, typed.per_call].map(priceOf);
  const isWrong = (name: keyof Typed) => priceOf(typed[name]) === null;
  const usage = useQuery('trial', () =>
    answer(api.GET('/v1/usage', { params: { query: { bucket: 'day', group_by: 'model' } } })),
  );
  return (
    <Frame
      title="Trial prices"
      about="What the calls of the last 30 days would have cost with prices that you try here. Nothing is stored."
      tabs={<SpendTabs />}
    >
      <Panel title="Prices">
        <div class="trial-prices">
          {FIELDS.map(([name, label]) => (
            <Field
              key={name}
              label={label}
              inputMode="decimal"
              placeholder="0"
              value={typed[name]}
              error={isWrong(name) ? 'A number from 0 on, with at most nine decimal places, such as 0.15.' : undefined}
              onInput={({ currentTarget }) => keep({ ...typed, [name]: currentTarget.value })}
            />
          ))}
        </div>
        <p class="hint">
          Tokens that a model had in its cache count as input. Failed calls cost nothing. Calls that their callers left
          early count as whole calls.
        </p>
      </Panel>
      <Loaded query={usage} what="the calls">
        {(summary) =>
          summary.usage.length === 0 ? (
            <Empty icon="budgets" title="No call ended in the last 30 days" />
          ) : (
            input != null &&
            output != null &&
            perCall != null && <Outcome summary={summary} prices={{ input, output, perCall }} />
          )
        }
      </Loaded>
    </Frame>
  );
}

function Outcome({ summary, prices }: { summary: Schemas['UsageSummary']; prices: TrialPrices }) {
  const nameOf = useGroupNames('model');
  const { currency, usage } = summary;
  const groups = groupSums(usage);
  const real = totalCost(groups);
  const trial = groups.reduce((sum, group) => sum + (nanosOf(trialCost(group, prices)) ?? 0n), 0n);
  const columns: Column<GroupSums>[] = [
    { title: 'Model', cell: ({ group }) => nameOf(group) },
    { title: 'Paid calls', numeric: true, minor: true, cell: (group) => formatNumber(paidCalls(group)) },
    { title: 'Tokens in', numeric: true, minor: true, cell: ({ tokens_in }) => formatNumber(tokens_in) },
    { title: 'Tokens out', numeric: true, minor: true, cell: ({ tokens_out }) => formatNumber(tokens_out) },
    {
      title: `Real cost (${currency})`,
      numeric: true,
      cell: ({ cost }) => (cost === null ? 'no price' : formatCost(amountOf(cost))),
    },
    {
      title: `Trial cost (${currency})`,
      numeric: true,
      cell: (group) => formatCost(trialCost(group, prices)),
    },
  ];
  return (
    <Panel title="Costs">
      <dl class="figures">
        <Figure name="With these prices">{`${formatCost(amountOf(trial))} ${currency}`}</Figure>
        <Figure name="In truth">{real === null ? 'no price' : `${formatCost(real)} ${currency}`}</Figure>
      </dl>
      <Table label="Costs with these prices" columns={columns} rows={groups} rowKey={({ group }) => group ?? ''} />
    </Panel>
  );
}
