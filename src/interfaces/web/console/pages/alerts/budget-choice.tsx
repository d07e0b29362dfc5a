import { answer, api, type Schemas } from '../../shared/api.js';
import { SelectField } from '../../shared/form.js';
import { useQuery } from '../../shared/query.js';
import { useScopeNames } from '../../shared/scope-names.js';

const MOST_LISTED = 1_000;

/** Lets the user choose one of the budgets that the account may see. */
export function BudgetChoice(props: {
  value: string;
  error?: string;
  onInput: (event: { currentTarget: { value: string } }) => void;
}) {
  const nameOf = useScopeNames();
  const params = { query: { limit: MOST_LISTED } };
  const list = useQuery('budgets to choose', () => answer(api.GET('/v1/budgets', { params })));
  const words = ({ scope, scope_id, limit, unit, currency, period }: Schemas['Budget']) =>
    `${nameOf(scope, scope_id)}: ${limit} ${unit === 'cost' ? currency : unit}, ${period === 'total' ? 'for all time' : `each ${period}`}`;
  const budgets = list.data?.budgets ?? [];
  const isKnown = budgets.some(({ id }) => id === props.value);
  const none = list.data?.count === 0 ? 'There is no budget' : 'Choose a budget';
  return (
    <SelectField
      label="Budget"
      {...props}
      options={[
        ...(isKnown ? [] : [[props.value, props.value || none] as const]),
        ...budgets.map((budget) => [budget.id, words(budget)] as const),
      ]}
      hint="The rule fires once in each period."
    />
  );
}
