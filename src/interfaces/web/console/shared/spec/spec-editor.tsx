import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { fieldError } from '../form.js';
import { Panel } from '../frame.js';
import { placeOf } from '../json-source.js';
import { query, setQuery } from '../router.js';
import { ErrorNote } from '../states.js';
import { specOf, withField } from './fields.js';
import { JsonEditor, JsonText, jumpTo } from './json-editor.js';
import type { SpecDraft } from './spec-draft.js';
import { StaleNote } from './stale-note.js';

/** The fields of the form: the spec with their values, and the function that changes them. */
export interface SpecFields {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly set: (path: string, value: unknown) => void;
  readonly error: (path: string) => string | undefined;
  readonly readOnly: boolean;
}

/** Goes to the field of a finding in the form. If the form does not have this field, goes to its line in the JSON. */
export function jumpToPath(path: string): void {
  const field = document.querySelector<HTMLElement>(`.spec [data-path="${CSS.escape(path)}"]`);
  if (field) field.focus();
  else setQuery({ view: 'json', at: path });
}

/**
 * Edits a spec as a form or as JSON, depending on `view` in the address. Shows the errors of the service. The parameter
 * `at` is the path to jump to.
 */
export function SpecEditor(props: {
  title: string;
  draft: SpecDraft;
  readOnly: boolean;
  form: (fields: SpecFields) => ComponentChildren;
  actions?: ComponentChildren;
}) {
  const { title, draft, readOnly, form, actions } = props;
  const asJson = query.value.get('view') === 'json';
  const at = query.value.get('at');
  const editor = useRef<HTMLTextAreaElement>(null);
  const shown = useRef<HTMLPreElement>(null);
  const { source, text, saving } = draft;
  const spec = specOf(source);
  useEffect(() => {
    const element = readOnly ? shown.current : editor.current;
    if (at === null || !asJson || !element) return;
    jumpTo(element, placeOf(source, at));
    setQuery({ at: null });
  }, [at, asJson]);
  const views = (
    <fieldset class="spec-views" aria-label="View">
      {(['form', 'json'] as const).map((view) => (
        <button
          key={view}
          type="button"
          class="button small"
          aria-pressed={asJson === (view === 'json')}
          onClick={() => setQuery({ view: view === 'json' ? view : null })}
        >
          {view === 'json' ? 'JSON' : 'Form'}
        </button>
      ))}
    </fieldset>
  );
  return (
    <Panel title={title} actions={views}>
      <form
        class="spec"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void saving.run(draft.base.version);
        }}
      >
        {draft.stale && <StaleNote draft={draft} />}
        {draft.aside && (
          <div class="note">
            <p>Your own text is set aside for version {draft.base.version}.</p>
            <div class="actions start">
              <button type="button" class="button small" onClick={draft.bringBack}>
                Bring my text back
              </button>
              <button type="button" class="button small" onClick={draft.forget}>
                Forget it
              </button>
            </div>
          </div>
        )}
        {saving.error && <ErrorNote error={saving.error} onPath={jumpToPath} />}
        {asJson && readOnly ? (
          <JsonText label="Spec as JSON" text={text} element={shown} />
        ) : asJson ? (
          <JsonEditor
            label="Spec as JSON"
            text={text}
            source={source}
            element={editor}
            onText={(next) => draft.change({ text: next })}
          />
        ) : spec ? (
          form({
            spec,
            readOnly,
            set: (path, value) => draft.change({ text: withField(spec, path, value) }),
            error: (path) => fieldError(saving.error, path),
          })
        ) : (
          <div class="note bad">
            <p>The form cannot show this text: {source.problem?.message ?? 'it is no JSON object.'}</p>
            <button type="button" class="button small" onClick={() => setQuery({ view: 'json' })}>
              Mend the JSON
            </button>
          </div>
        )}
        {!readOnly && (
          <div class="spec-foot">
            <p class="hint" aria-live="polite">
              {draft.changed
                ? `Not saved: changes to version ${draft.base.version}, kept in this tab.`
                : `Version ${draft.saved.version} is saved.`}
            </p>
            <div class="actions">
              {actions}
              {draft.changed && (
                <button type="button" class="button" onClick={draft.setAside}>
                  Discard
                </button>
              )}
              <button
                type="submit"
                class="button primary"
                disabled={saving.busy || !draft.changed || draft.stale || source.problem !== null}
                aria-busy={saving.busy}
              >
                {saving.busy ? 'Saving …' : 'Save'}
              </button>
            </div>
          </div>
        )}
      </form>
    </Panel>
  );
}
