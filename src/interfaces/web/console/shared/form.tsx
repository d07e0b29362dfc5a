import type {
  AriaAttributes,
  ComponentChildren,
  InputHTMLAttributes,
  SelectHTMLAttributes,
  TextareaHTMLAttributes,
} from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiError } from './api.js';
import { ErrorNote } from './states.js';

export interface Action<Arguments extends unknown[]> {
  readonly run: (...args: Arguments) => Promise<void>;
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  readonly clear: () => void;
}

/** Runs an act one at a time and keeps why it was refused. */
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

/**
 * Returns an action that sends `values`. Its `field(name)` binds an input to one of them, by the name that the API gives
 * it, with what the service says of it.
 */
export function useForm<Values extends { readonly [Name in keyof Values]: string }>(
  values: Values,
  change: (values: Values) => void,
  act: () => Promise<unknown>,
) {
  const action = useAction(act);
  const fields: string[] = [];
  const latest = useRef(values); // A password manager fills several inputs before they are drawn.
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

/** Returns what the service says of a field, for `Field`. */
export const fieldError = (error: ApiError | undefined, name: string): string | undefined =>
  error?.details.find(({ path }) => path === name)?.message;

/** Shows a refusal above a form, except for the findings that stand beside one of its `fields`. */
export function FormError({ error, fields = [] }: { error: ApiError | undefined; fields?: readonly string[] }) {
  if (!error) return null;
  const rest = error.details.filter(({ path }) => !fields.includes(path));
  if (error.details.length > 0 && rest.length === 0) return null;
  return <ErrorNote error={error} details={rest} />;
}

/**
 * Draws a form that the browser does not check, since `act` or the service does. A refusal stands above its inputs, except
 * for the findings about the `fields` of `act`, whose inputs show them. The first refused input gets the focus.
 */
export function Form(props: {
  act: Pick<Action<[]>, 'run' | 'busy' | 'error'> & { readonly fields?: readonly string[] };
  /** The words of the button that sends it. There is none without them. */
  submit: string | false;
  /** Its button is one of several on the page. */
  plain?: boolean;
  onCancel?: () => void;
  /** Further buttons. */
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

/** A button that sends its form, and says so while it does. `plain`: it is one of several on the page. */
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
}

/** Draws a label with an input, which gets the attributes that tie the two together. An error is read out with it. */
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

/** A labelled input. */
export const Field = ({ label, hint, error, ...own }: FieldProps & InputHTMLAttributes<HTMLInputElement>) => (
  <Labelled label={label} hint={hint} error={error} input={(shared) => <input {...shared} {...own} />} />
);

/** A labelled text of several lines. */
export const TextField = ({ label, hint, error, ...own }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) => (
  <Labelled label={label} hint={hint} error={error} input={(shared) => <textarea {...shared} {...own} />} />
);

/** A labelled choice of `options`, pairs of value and words. */
export function SelectField(
  props: FieldProps & { options: readonly (readonly [string, string])[] } & SelectHTMLAttributes<HTMLSelectElement>,
) {
  const { label, hint, error, options, ...own } = props;
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
