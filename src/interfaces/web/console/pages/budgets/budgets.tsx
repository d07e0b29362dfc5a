import { can } from '../../shared/account.js';
import { sharesOf } from '../../shared/amounts.js';
import { answer, api } from '../../shared/api.js';
import { BudgetBar, BudgetState } from '../../shared/budget-bar.js';
import { confirmAct } from '../../shared/dialog.js';
import { Frame, Panel } from '../../shared/frame.js';
import { Icon, IconButton } from '../../shared/icon.js';
import { PagedTable, pageSize } from '../../shared/paged-table.js';
import { usePaged } from '../../shared/query.js';
import { link, path, query, setQuery } from '../../shared/router.js';
import { useOwnKeys, useScopeNames } from '../../shared/scope-names.js';
import { Empty, Loaded, Time } from '../../shared/states.js';
import type { Column } from '../../shared/table.js';
import { report } from '../../shared/toasts.js';
import { type Budget, isAdmin, limitOf, mayChange, spentOf } from './budget.js';
import { BudgetDialog } from './budget-dialog.js';
import { SpendTabs } from './spend-tabs.js';

const EVERY_MS = 10_000;

export function Budgets() {
  const nameOf = useScopeNames();
  const keys = useOwnKeys();
  const mayCreate = isAdmin() || keys.length > 0;
  const list = usePaged(
    'budgets',
    async (cursor) => {
      const params = { query: { limit: pageSize(50), ...(cursor && { cursor }) } };
      const page = await answer(api.GET('/v1/budgets', { params }));
      return { items: page.budgets, next: page.next_cursor };
    },
    { everyMs: EVERY_MS },
  );
  const named = ({ scope, scope_id }: Budget) => nameOf(scope, scope_id);
  const remove = async (budget: Budget) => {
    const text = 'Calls are no longer limited by it. What they have cost stays in the usage.';
    const title = `Delete the budget of ${limitOf(budget)}?`;
    if (!(await confirmAct({ title, text, act: 'Delete' }))) return;
    const params = { path: { budget_id: budget.id } };
    await report(answer(api.DELETE('/v1/budgets/{budget_id}', { params })), 'The budget is deleted.');
    await list.reload();
  };
  const columns: Column<Budget>[] = [
    { title: 'Limits', sortBy: named, cell: named },
    { title: 'Limit', cell: (budget) => <Limit budget={budget} /> },
    { title: 'Spent', sortBy: (budget) => sharesOf(budget).settled, cell: (budget) => <Spent budget={budget} /> },
    {
      title: 'Begins anew',
      minor: true,
      sortBy: ({ resets_at }) => resets_at,
      cell: ({ resets_at: at }) => (at === null ? 'never' : <Time at={at} />),
    },
    {
      title: 'Actions',
      acts: true,
      cell: (budget) =>
        mayChange(budget) ? (
          <div class="actions">
            {can('manage_monitoring') && (
              <a class="button small" href={link('/alerts/rules', { rule: 'new', budget: budget.id })}>
                Add an alert
              </a>
            )}
            <a class="button small" href={link(path.value, { budget: budget.id })}>
              Change
            </a>
            <IconButton
              icon="trash"
              label={`Delete the budget of ${limitOf(budget)}`}
              onClick={() => void remove(budget)}
            />
          </div>
        ) : (
          <span class="hint">set by an admin</span>
        ),
    },
  ];
  const opened = query.value.get('budget');
  const edited = list.data?.find((budget) => budget.id === opened && mayChange(budget));
  const close = () => setQuery({ budget: null });
  return (
    <Frame
      title="Budgets"
      about={
        isAdmin()
          ? 'A budget limits what the calls of a team, a project, an account or a key take in each period.'
          : 'The budgets of your own API keys. Only admins see the others.'
      }
      tabs={<SpendTabs />}
      actions={
        mayCreate && (
          <a class="button primary" href={link(path.value, { budget: 'new' })}>
            <Icon name="plus" /> New budget
          </a>
        )
      }
    >
      <Loaded query={list} what="the budgets">
        {(budgets) =>
          budgets.length === 0 ? (
            <Empty icon="budgets" title="There are no budgets yet">
              <p>{isAdmin() ? 'Calls cost what they cost.' : 'Your API keys have no budgets.'}</p>
            </Empty>
          ) : (
            <Panel title="Budgets">
              <p class="budget-key" aria-hidden="true">
                <span>
                  <i class="settled" />
                  settled: what calls have taken
                </span>
                <span>
                  <i class="held" />
                  held: what running calls may still take
                </span>
              </p>
              <PagedTable label="Budgets" columns={columns} rows={budgets} query={list} />
            </Panel>
          )
        }
      </Loaded>
      {opened === 'new' && mayCreate && <BudgetDialog onSaved={() => void list.reload()} onClose={close} />}
      {edited && <BudgetDialog key={edited.id} budget={edited} onSaved={() => void list.reload()} onClose={close} />}
    </Frame>
  );
}

const Limit = ({ budget }: { budget: Budget }) => (
  <>
    {limitOf(budget)}
    {budget.on_exceed === 'alert' && <span class="hint">, refuses nothing</span>}
  </>
);

const Spent = ({ budget }: { budget: Budget }) => (
  <>
    <BudgetBar budget={budget} />
    <span class="hint">{spentOf(budget)}</span> <BudgetState budget={budget} />
  </>
);
