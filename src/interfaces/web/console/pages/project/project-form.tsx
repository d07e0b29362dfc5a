import { answer, api } from '../../shared/api.js';
import { Field, fieldError, SelectField, TextField } from '../../shared/form.js';
import { useQuery } from '../../shared/query.js';
import { fieldOf } from '../../shared/spec/fields.js';
import type { SpecDraft } from '../../shared/spec/spec-draft.js';
import type { SpecFields } from '../../shared/spec/spec-editor.js';

const METRICS: readonly (readonly [string, string])[] = [
  ['', 'None'],
  ['exact', 'exact: the same text'],
  ['normalized', 'normalized: but for case and blanks'],
  ['contains', 'contains: the text is in the answer'],
  ['numeric', 'numeric: the same number'],
  ['json_schema', 'json_schema: the schema fits'],
  ['accuracy', 'accuracy: the evaluation chooses'],
];

/** Shows the most used fields of a project. All other fields can be edited as JSON. */
export function ProjectForm(props: { projectId: string; draft: SpecDraft; fields: SpecFields }) {
  const { projectId, draft, fields } = props;
  const { spec, set, error, readOnly } = fields;
  const datasets = useQuery(`datasets ${projectId}`, () =>
    answer(api.GET('/v1/projects/{project_id}/datasets', { params: { path: { project_id: projectId } } })),
  );
  const text = (path: string) => String(fieldOf(spec, path) ?? '');
  const bind = (path: string) => ({
    value: text(path),
    error: error(`spec.${path}`),
    'data-path': `spec.${path}`,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => set(path, currentTarget.value),
  });
  const known = datasets.data?.datasets ?? [];
  const dataset = text('dataset_id');
  const options: (readonly [string, string])[] = [
    ['', 'None'],
    ...(dataset && !known.some(({ id }) => id === dataset) ? [[dataset, dataset] as const] : []),
    ...known.map(({ id, name, state }) => [id, `${name} (${state})`] as const),
  ];
  const metric = text('acceptance.metric');
  const metrics = METRICS.some(([value]) => value === metric) ? METRICS : [...METRICS, [metric, metric] as const];
  return (
    <div class="project-fields">
      <div class="wide">
        <Field
          label="Name"
          required
          maxLength={200}
          asText={readOnly}
          value={draft.name}
          error={fieldError(draft.saving.error, 'name')}
          data-path="name"
          onInput={(event) => draft.change({ name: event.currentTarget.value })}
        />
        <TextField
          label="Goal"
          rows={2}
          asText={readOnly}
          {...bind('goal')}
          hint="What the model is for, in a sentence."
        />
        <TextField
          label="System prompt"
          rows={5}
          asText={readOnly}
          {...bind('system_prompt')}
          hint="Evaluations send it before each record."
        />
      </div>
      <Field label="Task" asText={readOnly} {...bind('task')} hint="Such as chat, classification, extraction." />
      <SelectField
        label="Dataset"
        asText={readOnly}
        options={options}
        {...bind('dataset_id')}
        hint="Measures the models of the project."
      />
      <SelectField label="Metric" asText={readOnly} options={metrics} {...bind('acceptance.metric')} />
      <Field
        label="Threshold"
        type="number"
        min={0}
        max={1}
        step="any"
        asText={readOnly}
        {...bind('acceptance.threshold')}
        onInput={({ currentTarget: { value } }) => set('acceptance.threshold', value === '' ? '' : Number(value))}
        hint="The share of right answers that is enough, 0 to 1."
      />
      <Field
        label="Field of the answer"
        asText={readOnly}
        {...bind('acceptance.field')}
        hint="Of a JSON answer, the field to compare."
      />
    </div>
  );
}
