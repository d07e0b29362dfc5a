import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { FormError } from '../../shared/form.js';
import { writeJson } from '../../shared/json-source.js';
import { DiffView } from '../../shared/spec/diff-view.js';
import { contentOf, useSpecDraft, writtenOut } from '../../shared/spec/spec-draft.js';
import { StaleNote } from '../../shared/spec/stale-note.js';
import { toast } from '../../shared/toasts.js';
import type { Side } from './columns.js';
import { defaultSettings, numberFields } from './request.js';
import { specWith } from './spec-settings.js';

type Project = Schemas['Project'];

/** Returns the specification of the project with the prompt of the column, or null if the caller cannot save another. */
function changedSpec({ project: { data }, settings, waits }: Side): string | null {
  if (!data || waits || !can('edit_workspace')) return null;
  const text = writeJson(specWith(data.spec, settings));
  return text === writeJson(data.spec) ? null : text;
}

export const SaveButton = ({ side, onSave }: { side: Side; onSave: () => void }) =>
  changedSpec(side) === null ? null : (
    <button type="button" class="button small" onClick={onSave}>
      Save as the project’s prompt
    </button>
  );

/** Saves the prompt and the sampling of a column as the next version of the project. */
export function SaveToProject(props: { side: Side; onSaved: (project: Project) => void; onClose: () => void }) {
  const { side, onSaved, onClose } = props;
  const [text] = useState(changedSpec(side));
  const close = (saved: Project | null) => {
    onClose();
    if (!saved) return;
    onSaved(saved);
    toast(`Version ${saved.version} of ${saved.name} has the prompt of this column.`);
    // The newest version has these values now.
    const { system, stop } = defaultSettings;
    side.change({ system, stop, ...Object.fromEntries(numberFields.map((name) => [name, defaultSettings[name]])) });
    side.chooseVersion(null);
  };
  const project = side.project.data;
  return project && text !== null ? <SaveDialog side={side} project={project} text={text} onClose={close} /> : null;
}

/** Shows what the next version changes, or the conflict with a version that was saved meanwhile. */
function SaveDialog(props: { side: Side; project: Project; text: string; onClose: (saved: Project | null) => void }) {
  const { side, project, text, onClose } = props;
  const key = `playground prompt ${project.id}`;
  const [, keep] = useDraft(key);
  const [began, begin] = useState(false);
  const saved = useRef<Project | null>(null);
  const draft = useSpecDraft({
    key,
    now: project,
    save: async (version, { name, spec }) => {
      const params = { path: { project_id: project.id } };
      saved.current = await answer(api.PUT('/v1/projects/{project_id}', { params, body: { version, name, spec } }));
      return saved.current;
    },
    reload: side.project.reload,
  });
  const close = () => {
    keep(null);
    onClose(saved.current);
  };
  useLayoutEffect(() => {
    keep({ name: project.name, text, base: { ...contentOf(project), version: project.version } });
    begin(true);
  }, []);
  useEffect(() => {
    if (began && !draft.changed) close(); // It is saved, or the user took the other version.
  }, [began, draft.changed]);
  return (
    <Dialog title="Save as the project’s prompt" wide onClose={close}>
      <FormError error={draft.saving.error} />
      {draft.stale ? (
        <StaleNote draft={draft} />
      ) : (
        <>
          <p>
            Evaluations use the system prompt and the response format, always with temperature 0. The playground also
            uses the sampling. A call to the API has to send them itself.
          </p>
          <DiffView label="What the new version changes" before={writtenOut(draft.base)} after={writtenOut(draft)} />
          <div class="actions">
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
            <button
              type="button"
              class="button primary"
              disabled={draft.saving.busy}
              onClick={() => void draft.saving.run(draft.base.version)}
            >
              Save as version {draft.base.version + 1}
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}
