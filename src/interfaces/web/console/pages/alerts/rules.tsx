import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { Frame, Panel } from '../../shared/frame.js';
import { Icon, IconButton } from '../../shared/icon.js';
import { useQuery } from '../../shared/query.js';
import { link, path, query, setQuery } from '../../shared/router.js';
import { SearchableTable } from '../../shared/searchable-table.js';
import { Empty, Loaded, State, Time } from '../../shared/states.js';
import type { Column } from '../../shared/table.js';
import { report, toastError } from '../../shared/toasts.js';
import { AlertTabs } from './alert-tabs.js';
import { conditionOf } from './rule.js';
import { RuleDialog } from './rule-dialog.js';

type Rule = Schemas['AlertRule'];

const params = ({ id }: Rule) => ({ path: { rule_id: id } });

export function Rules() {
  const manages = can('manage_monitoring');
  const list = useQuery('alert rules', () => answer(api.GET('/v1/alerts/rules')));
  const rules = list.data?.rules;
  const put = (rule: Rule) => {
    if (!list.data) return;
    const others = list.data.rules.filter(({ id }) => id !== rule.id);
    const isNew = others.length === list.data.rules.length;
    const all = isNew ? [rule, ...others] : list.data.rules.map((one) => (one.id === rule.id ? rule : one));
    list.set({ rules: all, count: all.length });
  };
  const enable = async (rule: Rule, enabled: boolean) => {
    put({ ...rule, enabled });
    try {
      put(await answer(api.PATCH('/v1/alerts/rules/{rule_id}', { params: params(rule), body: { enabled } })));
    } catch (reason) {
      toastError(reason);
      await list.reload();
    }
  };
  const remove = async (rule: Rule) => {
    const text = 'It fires no more alerts. The alerts that it has fired stay.';
    if (!(await confirmAct({ title: `Delete ${rule.name}?`, text, act: 'Delete' }))) return;
    await report(
      answer(api.DELETE('/v1/alerts/rules/{rule_id}', { params: params(rule) })),
      `${rule.name} is deleted.`,
    );
    await list.reload();
  };
  const columns: Column<Rule>[] = [
    {
      title: 'Name',
      sortBy: ({ name }) => name,
      cell: ({ id, name }) => (manages ? <a href={link(path.value, { rule: id })}>{name}</a> : name),
    },
    { title: 'Fires', cell: conditionOf },
    {
      title: 'Severity',
      minor: true,
      sortBy: ({ severity }) => severity,
      cell: ({ severity }) => <State of={severity} />,
    },
    {
      title: 'Created',
      minor: true,
      sortBy: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      title: 'Enabled',
      sortBy: ({ enabled }) => (enabled ? 'yes' : 'no'),
      cell: (rule) =>
        manages ? (
          <label class="alerts-pick">
            <input
              type="checkbox"
              aria-label={`${rule.name} is enabled`}
              checked={rule.enabled}
              onChange={({ currentTarget }) => void enable(rule, currentTarget.checked)}
            />
          </label>
        ) : rule.enabled ? (
          'yes'
        ) : (
          'no'
        ),
    },
  ];
  if (manages) {
    columns.push({
      title: 'Actions',
      acts: true,
      cell: (rule) => <IconButton icon="trash" label={`Delete ${rule.name}`} onClick={() => void remove(rule)} />,
    });
  }
  const opened = manages ? query.value.get('rule') : null;
  const edited = rules?.find(({ id }) => id === opened);
  const close = () => setQuery({ rule: null, budget: null });
  return (
    <Frame
      title="Alert rules"
      about="A rule looks at the finished jobs of all teams, or at a budget."
      tabs={<AlertTabs />}
      actions={
        manages && (
          <a class="button primary" href={link(path.value, { rule: 'new' })}>
            <Icon name="plus" /> New rule
          </a>
        )
      }
    >
      {opened && opened !== 'new' && rules && !edited && (
        <p class="note warn">This rule is deleted. Its alerts stay.</p>
      )}
      <Loaded query={list} what="the rules">
        {() =>
          rules?.length === 0 ? (
            <Empty icon="alerts" title="There are no rules yet">
              <p>
                {manages
                  ? 'A rule fires an alert when jobs fail, run for too long, or use up a budget.'
                  : 'No alert can fire.'}
              </p>
            </Empty>
          ) : (
            <Panel title="Rules">
              <SearchableTable
                label="Alert rules"
                name="q"
                of="rules"
                textOf={({ name }) => name}
                columns={columns}
                rows={rules ?? []}
                rowKey={({ id }) => id}
              />
            </Panel>
          )
        }
      </Loaded>
      {opened === 'new' && <RuleDialog onSaved={put} onClose={close} />}
      {edited && <RuleDialog key={edited.id} rule={edited} onSaved={put} onClose={close} />}
    </Frame>
  );
}
