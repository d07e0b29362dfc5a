import { useId } from 'preact/hooks';
import { type Entry, inMode, modesOf, shapeText, type TensorSpec } from './tensors.js';

interface Props {
  readonly spec: TensorSpec;
  readonly entry: Entry;
  readonly error: string | undefined;
  readonly onChange: (entry: Entry) => void;
}

const MODES = { cells: 'Edit in fields', json: 'Edit as JSON', fill: 'Use one value for all' } as const;

/** Edits one input of a model: as a field for each element, as one value for all elements, or as JSON. */
export function TensorField({ spec, entry, error, onChange }: Props) {
  const id = useId();
  const other = modesOf(spec).find((mode) => mode !== entry.mode);
  return (
    <fieldset class="deployments-tensor" aria-describedby={`${id}-note`}>
      <legend>
        {spec.name} <span class="hint">{`${spec.datatype}, ${shapeText(spec.shape)}`}</span>
      </legend>
      {entry.mode === 'cells' && <Cells spec={spec} entry={entry} error={error} onChange={onChange} />}
      {entry.mode === 'fill' && (
        <div class="deployments-one">
          <Element
            label={`All elements of ${spec.name}`}
            datatype={spec.datatype}
            value={entry.value}
            invalid={Boolean(error)}
            onChange={(value) => onChange({ mode: 'fill', value })}
          />
        </div>
      )}
      {entry.mode === 'json' && (
        <textarea
          class="code"
          rows={Math.min(12, entry.text.split('\n').length + 1)}
          aria-label={`${spec.name} as JSON`}
          aria-invalid={error ? 'true' : undefined}
          spellcheck={false}
          value={entry.text}
          onInput={({ currentTarget }) => onChange({ mode: 'json', text: currentTarget.value })}
        />
      )}
      <p id={`${id}-note`} class={error ? 'field-note error' : 'field-note'}>
        {error ?? (entry.mode === 'fill' && 'Every element gets this value.')}
      </p>
      {other && (
        <button type="button" class="deployments-mode" onClick={() => onChange(inMode(spec, entry, other))}>
          {MODES[other]}
          <span class="unseen">{` for ${spec.name}`}</span>
        </button>
      )}
    </fieldset>
  );
}

function Cells({ spec, entry, error, onChange }: Props & { entry: Extract<Entry, { mode: 'cells' }> }) {
  const { cells } = entry;
  const change = (at: number, text: string) => onChange({ mode: 'cells', cells: cells.with(at, text) });
  return (
    <div class={cells.length > 1 ? 'deployments-cells' : 'deployments-one'}>
      {cells.map((text, at) => (
        <Element
          key={at}
          label={cells.length > 1 ? `${spec.name} ${at + 1}` : spec.name}
          datatype={spec.datatype}
          value={text}
          invalid={Boolean(error)}
          onChange={(value) => change(at, value)}
        />
      ))}
    </div>
  );
}

function Element(props: {
  label: string;
  datatype: string;
  value: string;
  invalid: boolean;
  onChange: (value: string) => void;
}) {
  const { label, datatype, value, invalid, onChange } = props;
  const common = {
    'aria-label': label,
    'aria-invalid': invalid ? ('true' as const) : undefined,
    value,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
      onChange(currentTarget.value),
  };
  if (datatype === 'BOOL') {
    return (
      <select {...common}>
        <option value="false">false</option>
        <option value="true">true</option>
      </select>
    );
  }
  return <input type="text" inputMode={datatype === 'BYTES' ? 'text' : 'decimal'} {...common} />;
}
