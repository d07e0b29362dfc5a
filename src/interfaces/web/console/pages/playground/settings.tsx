import { Field, SelectField, TextField } from '../../shared/form.js';
import { QueryError } from '../../shared/states.js';
import type { Side } from './columns.js';
import { defaultSettings, type numberFields, type Settings, schemaProblem } from './request.js';
import { SaveButton } from './save-to-project.js';
import { promptOf, settingsFor } from './spec-settings.js';
import { VersionChoice } from './version-choice.js';

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

/** Shows the settings of a column. Shows errors of its last call beside the fields that they name. */
export function SettingsForm({ side, onSave }: { side: Side; onSave: () => void }) {
  const { typed, project, version, older, change: onChange } = side;
  const spec = (version === null ? project.data?.spec : older.data?.spec) ?? {};
  const prompt = promptOf(spec);
  const owner = version === null ? 'the project' : `version ${version}`;
  const specFormat = spec.response_format;
  const sampling = settingsFor(defaultSettings, spec);
  const refused = side.chat.failure.value?.error;
  const about = (name: string) => refused?.details.find(({ path }) => path.startsWith(name))?.message;
  const { system, stop, format, schema } = typed;
  const differs = system !== null && system !== prompt;
  return (
    <form class="playground-settings" onSubmit={(event) => event.preventDefault()}>
      <VersionChoice side={side} />
      <QueryError query={older} />
      <TextField
        label="System prompt"
        rows={4}
        value={system ?? prompt}
        onInput={(event) => onChange({ system: event.currentTarget.value })}
        hint={differs ? `Differs from the prompt of ${owner}.` : prompt !== '' && `The prompt of ${owner}.`}
      />
      {differs && (
        <button type="button" class="button small" onClick={() => onChange({ system: null })}>
          Use the prompt of {owner}
        </button>
      )}
      <div class="playground-numbers">
        {numbers.map(([name, label, placeholder, range]) => (
          <Field
            key={name}
            label={label}
            type="number"
            placeholder={sampling[name] || placeholder}
            value={typed[name]}
            error={about(name)}
            onInput={(event) => onChange({ [name]: event.currentTarget.value })}
            {...range}
          />
        ))}
      </div>
      <TextField
        label="Stop texts"
        rows={2}
        placeholder={sampling.stop || undefined}
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
      {specFormat && (
        <button
          type="button"
          class="button small"
          onClick={() => {
            const { type } = specFormat;
            const schema = type === 'json_schema' && JSON.stringify(specFormat.json_schema.schema, null, 2);
            onChange({ format: type as Settings['format'], ...(schema && { schema }) });
          }}
        >
          Use the format of {owner}
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
      <SaveButton side={side} onSave={onSave} />
    </form>
  );
}
