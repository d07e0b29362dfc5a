import { answer, api, type Schemas } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { Field, Form, SelectField, useForm } from '../../shared/form.js';
import { query } from '../../shared/router.js';
import { toast } from '../../shared/toasts.js';
import { BudgetChoice } from './budget-choice.js';
import { conditionOf, fieldsOf, isWindowed, type RuleDraft, typedThreshold } from './rule.js';
import { RulePreview } from './rule-preview.js';

type Rule = Schemas['AlertRule'];

const NEW: RuleDraft = {
  ...{ name: '', rule_type: 'consecutive_failures', threshold: '3', job_kind: '', severity: '', budget_id: '' },
  ...{ window_minutes: '10', min_calls: '20' },
};

const TYPES = [
  ['consecutive_failures', 'Jobs fail in a row'],
  ['job_duration_exceeded', 'A job runs for too long'],
  ['budget_used', 'A budget is used'],
  ['latency_p95', 'Calls are slow (95th percentile)'],
  ['error_rate', 'Many calls fail'],
] as const;

type Type = Rule['rule_type'];

/** The label of the threshold, and its usual text in a new rule. */
const THRESHOLDS: Readonly<Record<Type, readonly [label: string, usual: string]>> = {
  consecutive_failures: ['Failed jobs in a row', '3'],
  job_duration_exceeded: ['Longer than (seconds)', '60'],
  budget_used: ['Used share of the limit (%)', '80'],
  latency_p95: ['95th percentile above (seconds)', '10'],
  error_rate: ['Failed share of the calls (%)', '10'],
};

const KINDS = [
  ['', 'Every kind'],
  ['chat', 'chat'],
  ['embedding', 'embedding'],
  ['prediction', 'prediction'],
  ['evaluation', 'evaluation'],
  ['external', 'external'],
] as const;

/** The kinds of jobs that are calls. */
const CALL_KINDS = KINDS.slice(0, 4);

const SEVERITIES = [
  ['P1', 'P1, the most severe'],
  ['P2', 'P2'],
  ['P3', 'P3'],
  ['P4', 'P4, the least severe'],
] as const;

const usualSeverity = (type: Type): string => (type === 'consecutive_failures' || type === 'error_rate' ? 'P1' : 'P2');

const draftOf = (rule: Rule): RuleDraft => ({
  ...{ name: rule.name, rule_type: rule.rule_type, severity: rule.severity },
  threshold: typedThreshold(rule),
  job_kind: rule.job_kind ?? '',
  budget_id: rule.budget_id ?? '',
  window_minutes: String(rule.window_minutes ?? NEW.window_minutes),
  min_calls: String(rule.min_calls ?? NEW.min_calls),
});

/** Returns the draft of a new rule. The address can name the budget that it watches. */
function newDraft(): RuleDraft {
  const budget_id = query.value.get('budget') ?? '';
  return budget_id ? { ...NEW, rule_type: 'budget_used', threshold: THRESHOLDS.budget_used[1], budget_id } : NEW;
}

/** Creates a rule, or changes `rule`. The type and the kind of jobs can be chosen only for a new rule. */
export function RuleDialog(props: { rule?: Rule; onSaved: (rule: Rule) => void; onClose: () => void }) {
  const { rule, onSaved, onClose } = props;
  const [kept, setDraft] = useDraft<RuleDraft>(`rule ${rule?.id ?? 'new'}`);
  const draft = kept ?? (rule ? draftOf(rule) : newDraft());
  const type = draft.rule_type;
  const { field, ...save } = useForm<RuleDraft>(draft, setDraft, async () => {
    const fields = fieldsOf(draft);
    const { name, threshold, severity } = fields;
    const call = rule
      ? api.PATCH('/v1/alerts/rules/{rule_id}', {
          params: { path: { rule_id: rule.id } },
          body: { name, threshold, ...(severity && { severity }) },
        })
      : api.POST('/v1/alerts/rules', { body: fields });
    const saved = await answer<Rule>(call);
    setDraft(null);
    onSaved(saved);
    toast(rule ? `${saved.name} is changed.` : `${saved.name} is created.`);
    onClose();
  });
  const cancel = () => {
    setDraft(null);
    onClose();
  };
  const choose = ({ currentTarget }: { currentTarget: { value: string } }) => {
    const rule_type = currentTarget.value as Type;
    const job_kind = CALL_KINDS.some(([kind]) => kind === draft.job_kind) ? draft.job_kind : '';
    setDraft({ ...draft, rule_type, job_kind, threshold: THRESHOLDS[rule_type][1] });
  };
  return (
    <Dialog title={rule ? 'Change the rule' : 'New alert rule'} wide onClose={onClose}>
      <div class="alerts-editor">
        <Form act={save} submit={rule ? 'Change' : 'Create'} onCancel={cancel}>
          <Field label="Name" required maxLength={200} placeholder="training fails" {...field('name')} />
          {rule ? (
            <p class="hint">{`${conditionOf(rule)}. Only what stands below can be changed.`}</p>
          ) : (
            <>
              <SelectField label="Fires when" options={TYPES} {...field('rule_type')} onInput={choose} />
              {type === 'budget_used' ? (
                <BudgetChoice {...field('budget_id')} />
              ) : (
                <SelectField
                  label={isWindowed(type) ? 'Kind of calls' : 'Kind of jobs'}
                  options={isWindowed(type) ? CALL_KINDS : KINDS}
                  {...field('job_kind')}
                />
              )}
              {isWindowed(type) && (
                <>
                  <Field
                    label="Within (minutes)"
                    required
                    type="number"
                    min={1}
                    max={1440}
                    {...field('window_minutes')}
                  />
                  <Field label="Calls at least" required type="number" min={1} max={10_000} {...field('min_calls')} />
                </>
              )}
            </>
          )}
          <Field
            label={THRESHOLDS[type][0]}
            required
            type="number"
            min={type === 'consecutive_failures' ? 1 : undefined}
            step={type === 'consecutive_failures' ? 1 : 'any'}
            {...field('threshold')}
          />
          <SelectField
            label="Severity"
            options={rule ? SEVERITIES : [['', `Usual: ${usualSeverity(type)}`], ...SEVERITIES]}
            {...field('severity')}
          />
        </Form>
        <RulePreview draft={draft} />
      </div>
    </Dialog>
  );
}
