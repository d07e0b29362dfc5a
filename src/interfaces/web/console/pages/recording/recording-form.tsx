import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Field } from '../../shared/form.js';
import { Icon, IconButton } from '../../shared/icon.js';
import { type MaskKind, type OwnMask, type Recording, recordingOf } from '../../shared/recording.js';
import { fieldOf } from '../../shared/spec/fields.js';
import type { SpecFields } from '../../shared/spec/spec-editor.js';

/** The finds of each kind, with an example. */
const KINDS: Readonly<Record<MaskKind, readonly [title: string, example: string]>> = {
  email: ['E-mail addresses', 'ada@example.com'],
  phone: ['Telephone numbers', '+49 30 901820'],
  card: ['Card numbers', '4111 1111 1111 1111'],
  iban: ['Bank accounts (IBAN)', 'DE89 3704 0044 0532 0130 00'],
  ip: ['IP addresses', '192.0.2.44'],
  secret: ['Secrets', 'API keys, passwords, tokens'],
};
const kinds = Object.keys(KINDS) as MaskKind[];
const MOST_MASKS = 20;

const CONTENTS = [
  ['none', 'Figures only', 'Times, tokens, cost, model and feedback. No prompt and no answer.'],
  ['full', 'With prompts and answers', 'Also tools, their arguments and results. Images and vectors are never kept.'],
] as const;

/** Shows the field `record` of a spec in plain words. */
export function RecordingForm({ fields }: { fields: SpecFields }) {
  const { spec, set, error, readOnly } = fields;
  const recording = recordingOf(spec);
  const { share, content, days, mask } = recording;
  const change = (field: keyof Recording, value: unknown) => set(`record.${field}`, value);
  return (
    <div class="recording">
      <div class="recording-numbers">
        <NumberField
          label="Share of the calls, in percent"
          fields={fields}
          name="share"
          shown={percent(share)}
          sent={fraction}
          range={{ min: 0, max: 100, step: 'any' }}
          error={error('spec.record.share') && 'must be a number from 0 to 100'}
          hint={share === 0 ? 'No call is kept.' : share >= 1 ? 'All calls are kept.' : 'They are chosen by chance.'}
        />
        <NumberField
          label="Days"
          fields={fields}
          name="days"
          shown={days}
          sent={(value) => value}
          range={{ min: 1, max: 365, step: 1 }}
          error={error('spec.record.days')}
          hint="1 to 365. A change holds for later calls."
        />
      </div>
      <Choice legend="Content" path="spec.record.content" error={error('spec.record.content')}>
        {CONTENTS.map(([value, title, about]) => (
          <Option
            key={value}
            type="radio"
            name="recording-content"
            title={title}
            about={about}
            checked={content === value}
            disabled={readOnly}
            onChange={() => change('content', value)}
          />
        ))}
      </Choice>
      {content === 'full' && <Masks mask={mask} fields={fields} change={(next) => change('mask', next)} />}
    </div>
  );
}

/** A number with a default. An emptied input stays empty, and the default holds. */
function NumberField(props: {
  label: string;
  fields: SpecFields;
  name: 'share' | 'days';
  shown: number;
  /** Returns what the spec has for a typed number. */
  sent: (value: number) => number;
  range: { readonly min: number; readonly max: number; readonly step: number | 'any' };
  error: string | undefined;
  hint: string;
}) {
  const { label, fields, name, shown, sent, range, error, hint } = props;
  const { spec, set, readOnly } = fields;
  const [typed, type] = useState('');
  const isAbsent = fieldOf(spec, `record.${name}`) == null;
  const [emptied, setEmptied] = useState(false);
  const isTyped = typed !== '' ? Number(typed) === shown : emptied && isAbsent;
  return (
    <Field
      label={label}
      type="number"
      {...range}
      asText={readOnly}
      value={isTyped ? typed : String(shown)}
      data-path={`spec.record.${name}`}
      error={error}
      hint={hint}
      onInput={({ currentTarget: { value } }) => {
        type(value);
        setEmptied(value === '');
        set(`record.${name}`, value === '' ? '' : sent(Number(value)));
      }}
    />
  );
}

/** Computes with whole numbers of ten-thousandths, so that 7 % is 0.07 and not 0.07000000000000001. */
const fraction = (value: number): number => Math.round(value * 10_000) / 1_000_000;
const percent = (share: number): number => Math.round(share * 1_000_000) / 10_000;

function Masks(props: { mask: Recording['mask']; fields: SpecFields; change: (mask: Recording['mask']) => void }) {
  const { mask, fields, change } = props;
  const { error, readOnly } = fields;
  const path = (at: number, field: string) => `spec.record.mask.${at}.${field}`;
  const own = mask.flatMap((one, at) => (typeof one === 'string' ? [] : [{ one, at }]));
  const edit = (at: number, changed: Partial<OwnMask>) =>
    change(mask.map((one, index) => (index === at ? { ...(one as OwnMask), ...changed } : one)));
  return (
    <>
      <Choice legend="Masked before anything is stored" path="spec.record.mask" error={error('spec.record.mask')}>
        <p class="hint">A find is replaced by its name, such as [email]. What cannot be masked is not stored at all.</p>
        <div class="recording-kinds">
          {kinds.map((kind) => (
            <Option
              key={kind}
              type="checkbox"
              title={KINDS[kind][0]}
              about={KINDS[kind][1]}
              checked={mask.includes(kind)}
              disabled={readOnly}
              onChange={(checked) => change(checked ? [...mask, kind] : mask.filter((one) => one !== kind))}
            />
          ))}
        </div>
      </Choice>
      <Choice legend="Own patterns" path="spec.record.mask.own">
        <p class="hint">
          Regular expressions of RE2, such as <code>CUST-[0-9]{'{6}'}</code> with the name customer. A find becomes
          [customer].
        </p>
        {own.map(({ one, at }, index) => (
          <div class="recording-own" key={at}>
            <Field
              label={`Name of pattern ${index + 1}`}
              maxLength={30}
              placeholder="customer"
              asText={readOnly}
              value={one.name}
              data-path={path(at, 'name')}
              error={error(path(at, 'name'))}
              onInput={(event) => edit(at, { name: event.currentTarget.value })}
            />
            <Field
              label={`Pattern ${index + 1}`}
              maxLength={1000}
              spellcheck={false}
              class="recording-pattern"
              placeholder="CUST-[0-9]{6}"
              asText={readOnly}
              value={one.pattern}
              data-path={path(at, 'pattern')}
              error={error(path(at, 'pattern'))}
              onInput={(event) => edit(at, { pattern: event.currentTarget.value })}
            />
            {!readOnly && (
              <IconButton
                icon="trash"
                label={`Remove pattern ${index + 1}`}
                onClick={() => change(mask.filter((_, other) => other !== at))}
              />
            )}
          </div>
        ))}
        {readOnly && own.length === 0 && <p class="hint">none</p>}
        {!readOnly && mask.length < MOST_MASKS && (
          <button type="button" class="button" onClick={() => change([...mask, { name: '', pattern: '' }])}>
            <Icon name="plus" /> Add a pattern
          </button>
        )}
      </Choice>
    </>
  );
}

/** A group of options. A finding about it can move the focus to it. */
function Choice(props: { legend: string; path: string; error?: string; children: ComponentChildren }) {
  return (
    <fieldset class="recording-choice" tabIndex={-1} data-path={props.path}>
      <legend>{props.legend}</legend>
      {props.error && <p class="field-note error">{props.error}</p>}
      {props.children}
    </fieldset>
  );
}

function Option(props: {
  type: 'radio' | 'checkbox';
  name?: string;
  title: string;
  about: string;
  checked: boolean;
  disabled: boolean;
  onChange: (checked: boolean) => void;
}) {
  const { type, name, title, about, checked, disabled, onChange } = props;
  const id = useId();
  return (
    <div class="recording-option">
      <input
        id={id}
        type={type}
        name={name}
        checked={checked}
        disabled={disabled}
        aria-describedby={`${id}-about`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{title}</label>
      <span id={`${id}-about`} class="hint">
        {about}
      </span>
    </div>
  );
}
