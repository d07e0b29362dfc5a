import type { ApiError, Schemas } from '../../shared/api.js';
import { Field, SelectField, TextField } from '../../shared/form.js';
import { defaultSettings, type numberFields, type Settings, schemaProblem } from './request.js';

type NumberField = (typeof numberFields)[number];

/** The name of each number field, its label, its default and the attributes of its input. */
const numbers: readonly (readonly [NumberField, string, string, object])[] = [
  ['temperature', 'Temperature', '0', { min: 0, max: 2, step: 0.1 }],
  ['top_p', 'Top p', '1', { min: 0, max: 1, step: 0.05 }],
  ['max_tokens', 'Max tokens', '512', { min: 1, step: 1 }],
  ['seed', 'Seed', 'none', { step: 1 }],
  ['presence_penalty', 'Presence penalty', '0', { min: -2, max: 2, step: 0.1 }],
  ['frequency_penalty', 'Frequency penalty', '0', { min: -2, max: 2, step: 0.1 }],
];

const formats = [
  ['text', 'Text'],
  ['json_object', 'JSON object'],
  ['json_schema', 'JSON schema'],
] as const;

/** Shows the form of the settings. Shows errors of the last call beside the fields that they name. */
export function SettingsForm(props: {
  settings: Settings;
  /** The spec of the project. It may have a prompt and a format of its own. */
  project: Pick<Schemas['Project']['spec'], 'system_prompt' | 'response_format'>;
  refused: ApiError | undefined;
  onChange: (change: Partial<Settings>) => void;
}) {
  const { settings, project, refused, onChange } = props;
  const projectPrompt = project.system_prompt ?? '';
  const projectFormat = project.response_format;
  const about = (name: string) => refused?.details.find(({ path }) => path.startsWith(name))?.message;
  const { system, stop, format, schema } = settings;
  const differs = system !== null && system !== projectPrompt;
  return (
    <form class="playground-settings" onSubmit={(event) => event.preventDefault()}>
      <TextField
        label="System prompt"
        rows={4}
        value={system ?? projectPrompt}
        onInput={(event) => onChange({ system: event.currentTarget.value })}
        hint={
          differs ? 'Differs from the prompt of the project.' : projectPrompt !== '' && 'The prompt of the project.'
        }
      />
      {differs && (
        <button type="button" class="button small" onClick={() => onChange({ system: null })}>
          Use the prompt of the project
        </button>
      )}
      <div class="playground-numbers">
        {numbers.map(([name, label, placeholder, range]) => (
          <Field
            key={name}
            label={label}
            type="number"
            placeholder={placeholder}
            value={settings[name]}
            error={about(name)}
            onInput={(event) => onChange({ [name]: event.currentTarget.value })}
            {...range}
          />
        ))}
      </div>
      <TextField
        label="Stop texts"
        rows={2}
        value={stop}
        error={about('stop')}
        hint="One a line, at most four. The answer ends before the first of them."
        onInput={(event) => onChange({ stop: event.currentTarget.value })}
      />
      <SelectField
        label="Response format"
        options={formats}
        value={format}
        onInput={(event) => onChange({ format: event.currentTarget.value as Settings['format'] })}
      />
      {projectFormat && (
        <button
          type="button"
          class="button small"
          onClick={() => {
            const { type } = projectFormat;
            const schema = type === 'json_schema' && JSON.stringify(projectFormat.json_schema.schema, null, 2);
            onChange({ format: type as Settings['format'], ...(schema && { schema }) });
          }}
        >
          Use the format of the project
        </button>
      )}
      {format === 'json_schema' && (
        <TextField
          label="JSON schema"
          class="code"
          rows={12}
          spellcheck={false}
          value={schema}
          error={schemaProblem(schema) ?? about('response_format')}
          onInput={(event) => onChange({ schema: event.currentTarget.value })}
        />
      )}
      <button type="button" class="button small" onClick={() => onChange(defaultSettings)}>
        Reset the settings
      </button>
    </form>
  );
}
