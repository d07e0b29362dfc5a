import { can } from '../../shared/account.js';
import { levelOf } from '../../shared/amounts.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { BudgetBar, BudgetState } from '../../shared/budget-bar.js';
import { Panel } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { useScopeNames } from '../../shared/scope-names.js';

const EVERY_MS = 20_000;
const MOST_READ = 250;
const MOST_LISTED = 8;

type Budget = Schemas['Budget'];

/** Warns of budgets of which more than 80 % are used. */
export function BudgetsNote() {
  const budgets = useQuery(
    can('use_budgets') ? 'budgets to warn of' : null,
    () => answer(api.GET('/v1/budgets', { params: { query: { limit: MOST_READ } } })),
    { everyMs: EVERY_MS },
  );
  const short = budgets.data?.budgets.filter((budget) => levelOf(budget) !== 'free') ?? [];
  return short.length > 0 ? <Short budgets={short} /> : null;
}

function Short({ budgets }: { budgets: readonly Budget[] }) {
  const nameOf = useScopeNames();
  return (
    <Panel title="Budgets that run short" actions={<a href={link('/budgets')}>All budgets</a>}>
      <ul class="overview-rows" aria-label="Budgets that run short">
        {budgets.slice(0, MOST_LISTED).map((budget) => (
          <li key={budget.id}>
            <a dir="auto" href={link('/budgets')}>
              {nameOf(budget.scope, budget.scope_id)}
            </a>{' '}
            <BudgetState budget={budget} />
            <span class="hint">{`${budget.unit}, ${budget.period === 'total' ? 'for all time' : `each ${budget.period}`}`}</span>
            <BudgetBar budget={budget} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
