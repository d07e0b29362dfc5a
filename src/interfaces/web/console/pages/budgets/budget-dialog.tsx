import { can, status } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { Field, Form, SelectField, useForm } from '../../shared/form.js';
import { useQuery } from '../../shared/query.js';
import { keyName, useOwnKeys } from '../../shared/scope-names.js';
import { toast } from '../../shared/toasts.js';
import { type Budget, isAdmin, limitOf, PERIODS } from './budget.js';

interface Draft {
  readonly scope: string;
  readonly scope_id: string;
  readonly unit: string;
  readonly limit: string;
  readonly period: string;
  readonly on_exceed: string;
}

const SCOPES = [
  ['team', 'The whole team'],
  ['project', 'A project'],
  ['account', 'An account'],
  ['key', 'An API key of yours'],
] as const;

const ON_EXCEED = [
  ['refuse', 'Refuse calls without room'],
  ['alert', 'Answer calls all the same'],
] as const;

const newDraft = (): Draft => ({
  ...{ scope: isAdmin() ? 'team' : 'key', scope_id: '', unit: 'cost', limit: '', period: 'month', on_exceed: 'refuse' },
});
const draftOf = (budget: Budget): Draft => ({ ...budget, limit: String(budget.limit) });

/** Creates a budget, or changes `budget`. Only the limit and what happens beyond it can be changed. */
export function BudgetDialog(props: { budget?: Budget; onSaved: () => void; onClose: () => void }) {
  const { budget, onSaved, onClose } = props;
  const [kept, setDraft] = useDraft<Draft>(`budget ${budget?.id ?? 'new'}`);
  const draft = kept ?? (budget ? draftOf(budget) : newDraft());
  const objects = useObjects(draft.scope);
  const scopeId = objects.some(([id]) => id === draft.scope_id) ? draft.scope_id : (objects[0]?.[0] ?? '');
  const { field, ...save } = useForm<Draft>(draft, setDraft, async () => {
    const limit = draft.limit.trim() === '' ? Number.NaN : Number(draft.limit);
    const body = { limit, on_exceed: draft.on_exceed as Budget['on_exceed'] };
    await answer(
      budget
        ? api.PATCH('/v1/budgets/{budget_id}', { params: { path: { budget_id: budget.id } }, body })
        : api.POST('/v1/budgets', {
            body: {
              ...body,
              scope: draft.scope as Budget['scope'],
              scope_id: scopeId,
              unit: draft.unit as Budget['unit'],
              period: draft.period as Budget['period'],
            },
          }),
    );
    setDraft(null);
    onSaved();
    toast(budget ? 'The budget is changed.' : 'The budget is created.');
    onClose();
  });
  const cancel = () => {
    setDraft(null);
    onClose();
  };
  const currency = useQuery('currency', async () => (await answer(api.GET('/v1/usage'))).currency);
  const cost = `Cost${currency.data ? ` in ${currency.data}` : ''}`;
  return (
    <Dialog title={budget ? 'Change the budget' : 'New budget'} onClose={onClose}>
      <Form act={save} submit={budget ? 'Change' : 'Create'} onCancel={cancel}>
        {budget ? (
          <p class="hint">{`It allows ${limitOf(budget)}. What it limits, its unit and its period stay.`}</p>
        ) : (
          <>
            <SelectField label="Limits" options={isAdmin() ? SCOPES : SCOPES.slice(3)} {...field('scope')} />
            {draft.scope !== 'team' && (
              <SelectField label="Which one" {...field('scope_id')} options={objects} value={scopeId} />
            )}
            <SelectField
              label="Unit"
              options={[
                ['cost', cost],
                ['tokens', 'Tokens, of prompts and answers'],
                ['calls', 'Calls'],
                ['seconds', 'Seconds that calls take'],
              ]}
              {...field('unit')}
            />
            <SelectField
              label="Period"
              options={Object.entries(PERIODS).map(([value, words]) => [value, words])}
              hint="In UTC. Weeks begin on Monday."
              {...field('period')}
            />
          </>
        )}
        <Field label="Limit" required type="number" min={0} step="any" {...field('limit')} />
        <SelectField
          label="When it is used up"
          options={ON_EXCEED}
          hint={
            can('manage_monitoring')
              ? 'An alert rule of the type “A budget is used” tells you in time.'
              : 'The overview warns when more than 80 % are used.'
          }
          {...field('on_exceed')}
        />
      </Form>
    </Dialog>
  );
}

/** Returns the ids and names of what a budget of this scope can limit. */
function useObjects(scope: string): readonly (readonly [string, string])[] {
  const people = useQuery(scope === 'account' ? 'roster' : null, () => answer(api.GET('/v1/auth/users')));
  const keys = useOwnKeys();
  const { caller, runtimes = [] } = status.value ?? {};
  if (scope === 'team') return caller?.team ? [[caller.team.id, 'The whole team']] : [];
  if (scope === 'project') return runtimes.map(({ project_id, project_name }) => [project_id, project_name]);
  if (scope === 'account') return (people.data?.users ?? []).map(({ id, name }) => [id, name]);
  return keys.map((key) => [key.id, keyName(key)]);
}
