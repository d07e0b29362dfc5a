import { isOperator } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { Field, SelectField } from '../../shared/form.js';
import { formatBytes } from '../../shared/format.js';
import { useQuery } from '../../shared/query.js';
import { fieldOf } from '../../shared/spec/fields.js';
import type { SpecFields } from '../../shared/spec/spec-editor.js';

const KINDS = { chat_model: 'chat', embedding_model: 'embedding' } as const;

/** Shows the fields of a chat or embedding model: a folder of this service, or an engine elsewhere. */
export function ModelForm({ fields: { spec, set, error, readOnly } }: { fields: SpecFields }) {
  const files = useQuery(isOperator() ? 'model-files' : null, () => answer(api.GET('/v1/model-files')));
  const text = (path: string) => String(fieldOf(spec, path) ?? '');
  const bind = (path: string) => ({
    value: text(path),
    asText: readOnly,
    error: error(`spec.${path}`),
    'data-path': `spec.${path}`,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => set(path, currentTarget.value),
  });
  /** Text such as `0.0` stays text while the user types, because a number would lose its zeros. */
  const price = (name: string) => {
    const path = `prices.${name}`;
    const keep = (value: string, isNumber: boolean) => set(path, isNumber ? Number(value) : value);
    type Typed = { currentTarget: { value: string } };
    return {
      ...bind(path),
      inputMode: 'decimal' as const,
      onInput: ({ currentTarget: { value } }: Typed) => keep(value, String(Number(value)) === value && value !== 'NaN'),
      onChange: ({ currentTarget: { value } }: Typed) => keep(value, /^\d+(\.\d+)?$/.test(value)),
    };
  };
  const runtime = text('runtime');
  const folders = (files.data?.model_files ?? []).filter(({ kind }) => kind in KINDS);
  const path = text('path');
  const awaited = isOperator() && !files.data && !files.error;
  const paths: (readonly [string, string])[] = [
    ...(folders.some((folder) => folder.path === path)
      ? []
      : [[path, path || (awaited ? 'Loading the models …' : 'Choose a model')] as const]),
    ...folders.map((folder) => {
      const kind = KINDS[folder.kind as keyof typeof KINDS];
      return [folder.path, `${folder.path} (${kind}, ${formatBytes(folder.size)})`] as const;
    }),
  ];
  return (
    <div>
      <SelectField
        label="Runtime"
        asText={readOnly}
        value={runtime}
        data-path="spec.runtime"
        error={error('spec.runtime')}
        options={[
          ['onnx', 'onnx: a model of this service'],
          ['openai', 'openai: an engine elsewhere that speaks OpenAI’s API'],
          ...(runtime === 'onnx' || runtime === 'openai' ? [] : [[runtime, runtime || 'None'] as const]),
        ]}
        onInput={(event) => set('runtime', event.currentTarget.value)}
      />
      {runtime === 'onnx' &&
        (awaited || folders.length > 0 ? (
          <SelectField label="Model folder" {...bind('path')} required options={paths} />
        ) : (
          <Field
            label="Model folder"
            required
            placeholder="tiny-chat"
            {...bind('path')}
            hint="Its path below the models folders of the service."
          />
        ))}
      {runtime === 'openai' && (
        <>
          <Field
            label="Base URL"
            type="url"
            required
            placeholder="http://gpu.internal:8000/v1"
            {...bind('base_url')}
            hint={
              isOperator()
                ? 'SERVICE_RUNTIME_ALLOWED_HOSTS must allow its host.'
                : 'The operator of this service must allow its host: ask them, if a start is refused.'
            }
          />
          <Field label="Model" required {...bind('model')} hint="The engine’s name for it." />
          <Field
            label="Key setting"
            placeholder="SERVICE_RUNTIME_KEY_GPU"
            {...bind('key_setting')}
            hint="The setting of the service that holds the key, if the engine wants one."
          />
        </>
      )}
      <details class="models-prices" open={spec.prices !== undefined}>
        <summary>Prices</summary>
        <p class="hint">Calls cost this much. Without prices, they have no cost.</p>
        <Field label="Input, for a million tokens" {...price('input')} />
        <Field label="Output, for a million tokens" {...price('output')} />
        <Field label="Cached input, for a million tokens" {...price('cached_input')} hint="Empty: as input." />
        <Field label="For each call" {...price('per_call')} hint="Empty: nothing." />
      </details>
    </div>
  );
}
