import type {
  AriaAttributes,
  ComponentChildren,
  InputHTMLAttributes,
  SelectHTMLAttributes,
  TextareaHTMLAttributes,
} from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { forUser } from './account.js';
import { ApiError } from './api.js';
import { ErrorNote } from './states.js';

export interface Action<Arguments extends unknown[]> {
  readonly run: (...args: Arguments) => Promise<void>;
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  readonly clear: () => void;
}

/** Returns an action that runs `act`, but never twice at the same time, and keeps its error. */
export function useAction<Arguments extends unknown[]>(
  act: (...args: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const running = useRef(false);
  const run = async (...args: Arguments) => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await act(...args);
    } catch (reason) {
      setError(reason instanceof ApiError ? reason : new ApiError(0, 'failed', String(reason)));
    }
    running.current = false;
    setBusy(false);
  };
  return { run, busy, error, clear: () => setError(undefined) };
}

/** Returns an action that sends `values`. `field(name)` connects an input to a value and to the error about it. */
export function useForm<Values extends { readonly [Name in keyof Values]: string }>(
  values: Values,
  change: (values: Values) => void,
  act: () => Promise<unknown>,
) {
  const action = useAction(act);
  const fields: string[] = [];
  const latest = useRef(values); // A password manager fills several inputs between two drawings.
  latest.current = values;
  const field = (name: keyof Values & string) => {
    fields.push(name);
    return {
      value: values[name],
      error: fieldError(action.error, name),
      onInput: ({ currentTarget }: { currentTarget: { value: string } }) => {
        latest.current = { ...latest.current, [name]: currentTarget.value };
        change(latest.current);
      },
    };
  };
  return { ...action, field, fields };
}

/** Returns the error of the service about a field, for `Field`. */
export function fieldError(error: ApiError | undefined, name: string): string | undefined {
  const message = error?.details.find(({ path }) => path === name)?.message;
  return message && forUser(message);
}

/** Shows an error above a form. Leaves out the findings that are shown beside one of the `fields`. */
export function FormError({ error, fields = [] }: { error: ApiError | undefined; fields?: readonly string[] }) {
  if (!error) return null;
  const rest = error.details.filter(({ path }) => !fields.includes(path));
  if (error.details.length > 0 && rest.length === 0) return null;
  return <ErrorNote error={error} details={rest} />;
}

/**
 * Draws a form. The browser does not check it, because `act` or the service does. An error is shown above the inputs,
 * but findings about the `fields` of `act` are shown by their inputs. The first invalid input gets the focus.
 */
export function Form(props: {
  act: Pick<Action<[]>, 'run' | 'busy' | 'error'> & { readonly fields?: readonly string[] };
  /** The label of the submit button, or false for no button. */
  submit: string | false;
  /** True if the submit button is one of several on the page. */
  plain?: boolean;
  onCancel?: () => void;
  /** More buttons. */
  actions?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}) {
  const { act, submit, plain, onCancel, actions, children } = props;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (!act.error) return;
    const refused = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    const folded = refused?.closest('details');
    if (folded) folded.open = true;
    refused?.focus();
  }, [act.error]);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form ref={form} class={props.class} noValidate onSubmit={onSubmit}>
      <FormError error={act.error} fields={act.fields} />
      {children}
      <div class="actions">
        {onCancel && (
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        {actions}
        {submit && (
          <SubmitButton busy={act.busy} plain={plain}>
            {submit}
          </SubmitButton>
        )}
      </div>
    </form>
  );
}

/** Draws a button that submits its form. `plain` means that it is one of several on the page. */
export const SubmitButton = (props: { busy: boolean; plain?: boolean; children: ComponentChildren }) => {
  const { busy, plain, children } = props;
  return (
    <button type="submit" class={plain ? 'button' : 'button primary'} disabled={busy} aria-busy={busy}>
      {busy ? 'One moment …' : children}
    </button>
  );
};

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  error?: string;
  /** Shows the value as text, for a reader who may not change it. */
  asText?: boolean;
  'data-path'?: string;
}

/** Shows a value as text under its label. A finding can move the focus to it by its `data-path`. */
function Shown({ label, text, ...place }: { label: string; text: string; class?: string; 'data-path'?: string }) {
  return (
    <dl class="field">
      <dt>{label}</dt>
      <dd dir="auto" tabIndex={place['data-path'] ? -1 : undefined} {...place} class={`shown ${place.class ?? ''}`}>
        {text || <span class="hint">not set</span>}
      </dd>
    </dl>
  );
}

/** Draws a label with an input. `input` gets the attributes that connect the two and the error. */
function Labelled(props: FieldProps & { input: (attributes: AriaAttributes & { id: string }) => ComponentChildren }) {
  const { label, hint, error, input } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {input({ id, 'aria-invalid': error ? 'true' : undefined, 'aria-describedby': `${id}-note` })}
      <p id={`${id}-note`} class={error ? 'field-note error' : 'field-note'}>
        {error ?? hint}
      </p>
    </div>
  );
}

export function Field({ asText, ...props }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  const { label, hint, error, ...own } = props;
  if (asText) return <Shown label={label} text={String(own.value ?? '')} data-path={own['data-path']} />;
  return (
    <Labelled label={label} hint={hint} error={error} input={(shared) => <input dir="auto" {...shared} {...own} />} />
  );
}

export function TextField({ asText, ...props }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const { label, hint, error, ...own } = props;
  const { value = '', class: style, 'data-path': path } = own;
  if (asText) return <Shown label={label} text={String(value)} class={String(style ?? '')} data-path={path} />;
  return (
    <Labelled
      label={label}
      hint={hint}
      error={error}
      input={(shared) => <textarea dir="auto" {...shared} {...own} />}
    />
  );
}

/** Draws a choice with a label. `options` are pairs of a value and its text. */
export function SelectField(
  props: FieldProps & { options: readonly (readonly [string, string])[] } & SelectHTMLAttributes<HTMLSelectElement>,
) {
  const { label, hint, error, options, asText, ...own } = props;
  if (asText) {
    const text = options.find(([value]) => value === own.value)?.[1] ?? String(own.value ?? '');
    return <Shown label={label} text={text} data-path={own['data-path']} />;
  }
  const drawn = options.map(([value, words]) => (
    <option key={value} value={value} selected={value === own.value}>
      {words}
    </option>
  ));
  const select = (shared: AriaAttributes & { id: string }) => (
    <select {...shared} {...own}>
      {drawn}
    </select>
  );
  return <Labelled label={label} hint={hint} error={error} input={select} />;
}
