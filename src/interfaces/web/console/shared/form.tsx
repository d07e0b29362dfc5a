import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
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

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  error?: string;
}

/** A labelled input. `error` marks it and is read out with it. */
export function Field({ label, hint, error, ...input }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} aria-invalid={error ? 'true' : undefined} aria-describedby={`${id}-note`} {...input} />
      <FieldNote id={`${id}-note`} hint={hint} error={error} />
    </div>
  );
}

/** A labelled text of several lines. */
export function TextField({ label, hint, error, ...input }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} aria-invalid={error ? 'true' : undefined} aria-describedby={`${id}-note`} {...input} />
      <FieldNote id={`${id}-note`} hint={hint} error={error} />
    </div>
  );
}

/** A labelled choice of `options`, pairs of value and words. */
export function SelectField(
  props: FieldProps & { options: readonly (readonly [string, string])[] } & SelectHTMLAttributes<HTMLSelectElement>,
) {
  const { label, hint, error, options, ...select } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} aria-invalid={error ? 'true' : undefined} aria-describedby={`${id}-note`} {...select}>
        {options.map(([value, words]) => (
          <option key={value} value={value} selected={value === select.value}>
            {words}
          </option>
        ))}
      </select>
      <FieldNote id={`${id}-note`} hint={hint} error={error} />
    </div>
  );
}

const FieldNote = ({ id, hint, error }: { id: string; hint: ComponentChildren; error: string | undefined }) => (
  <p id={id} class={error ? 'field-note error' : 'field-note'}>
    {error ?? hint}
  </p>
);

/** A button that sends its form, and says so while it does. `plain`: it is one of several on the page. */
export const SubmitButton = (props: { busy: boolean; plain?: boolean; children: ComponentChildren }) => {
  const { busy, plain, children } = props;
  return (
    <button type="submit" class={plain ? 'button' : 'button primary'} disabled={busy} aria-busy={busy}>
      {busy ? 'One moment …' : children}
    </button>
  );
};
