import { answer, api, type Schemas } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { Field, Form, SelectField, useForm } from '../../shared/form.js';
import { toast } from '../../shared/toasts.js';
import { conditionOf, type RuleDraft } from './rule.js';
import { RulePreview } from './rule-preview.js';

type Rule = Schemas['AlertRule'];

const NEW: RuleDraft = { name: '', rule_type: 'consecutive_failures', threshold: '3', job_kind: '', severity: '' };

const TYPES = [
  ['consecutive_failures', 'Jobs fail in a row'],
  ['job_duration_exceeded', 'A job runs for too long'],
] as const;

const KINDS = [
  ['', 'Every kind'],
  ['chat', 'chat'],
  ['embedding', 'embedding'],
  ['prediction', 'prediction'],
  ['evaluation', 'evaluation'],
  ['external', 'external'],
] as const;

const SEVERITIES = [
  ['P1', 'P1, the most severe'],
  ['P2', 'P2'],
  ['P3', 'P3'],
  ['P4', 'P4, the least severe'],
] as const;

const draftOf = ({ name, rule_type, threshold, job_kind, severity }: Rule): RuleDraft => ({
  ...{ name, rule_type, severity },
  threshold: String(threshold),
  job_kind: job_kind ?? '',
});

/** Creates a rule, or changes `rule`. The type and the kind of jobs can be chosen only for a new rule. */
export function RuleDialog(props: { rule?: Rule; onSaved: (rule: Rule) => void; onClose: () => void }) {
  const { rule, onSaved, onClose } = props;
  const [kept, setDraft] = useDraft<RuleDraft>(`rule ${rule?.id ?? 'new'}`);
  const draft = kept ?? (rule ? draftOf(rule) : NEW);
  const { field, ...save } = useForm<RuleDraft>(draft, setDraft, async () => {
    const fields = { name: draft.name, threshold: Number(draft.threshold) };
    const severity = (draft.severity || null) as Rule['severity'] | null;
    const call = rule
      ? api.PATCH('/v1/alerts/rules/{rule_id}', {
          params: { path: { rule_id: rule.id } },
          body: { ...fields, ...(severity && { severity }) },
        })
      : api.POST('/v1/alerts/rules', {
          body: {
            ...fields,
            severity,
            rule_type: draft.rule_type,
            job_kind: (draft.job_kind || null) as Rule['job_kind'],
          },
        });
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
  const inSeconds = draft.rule_type === 'job_duration_exceeded';
  return (
    <Dialog title={rule ? 'Change the rule' : 'New alert rule'} wide onClose={onClose}>
      <div class="alerts-editor">
        <Form act={save} submit={rule ? 'Change' : 'Create'} onCancel={cancel}>
          <Field label="Name" required maxLength={200} placeholder="training fails" {...field('name')} />
          {rule ? (
            <p class="hint">{`${conditionOf(rule)}. Its type and the kind of jobs stay as they are.`}</p>
          ) : (
            <>
              <SelectField label="Fires when" options={TYPES} {...field('rule_type')} />
              <SelectField label="Kind of jobs" options={KINDS} {...field('job_kind')} />
            </>
          )}
          <Field
            label={inSeconds ? 'Longer than (seconds)' : 'Failed jobs in a row'}
            required
            type="number"
            min={inSeconds ? undefined : 1}
            step={inSeconds ? 'any' : 1}
            {...field('threshold')}
          />
          <SelectField
            label="Severity"
            options={rule ? SEVERITIES : [['', `Usual: ${inSeconds ? 'P2' : 'P1'}`], ...SEVERITIES]}
            {...field('severity')}
          />
        </Form>
        <RulePreview draft={draft} />
      </div>
    </Dialog>
  );
}
