import { CopyButton } from '../copy-button.js';
import { DiffView } from './diff-view.js';
import { type SpecDraft, writtenOut } from './spec-draft.js';

/** Shows the other saved version beside the user's changes, and asks which text to keep. Neither text is lost. */
export function StaleNote({ draft }: { draft: SpecDraft }) {
  const { base, saved } = draft;
  const since = `since version ${base.version}`;
  return (
    <section class="spec-stale" aria-label="Stale version">
      <div class="note warn" role="alert">
        <p>
          <strong>
            Version {saved.version} was saved while you were editing version {base.version}.
          </strong>{' '}
          Compare, then choose. Your text stays until you do.
        </p>
      </div>
      <div class="columns">
        <div class="stack">
          <h3>Saved {since}</h3>
          <DiffView label={`Saved ${since}`} before={writtenOut(base)} after={writtenOut(saved)} />
        </div>
        <div class="stack">
          <h3>Your changes {since}</h3>
          <DiffView label={`Your changes ${since}`} before={writtenOut(base)} after={writtenOut(draft)} />
        </div>
      </div>
      <div class="actions start">
        <button type="button" class="button" onClick={draft.setAside}>
          Take theirs
        </button>
        <button
          type="button"
          class="button"
          disabled={draft.saving.busy}
          onClick={() => void draft.saving.run(saved.version)}
        >
          Overwrite with mine
        </button>
        <CopyButton text={draft.text} label="Copy my text" />
      </div>
    </section>
  );
}
