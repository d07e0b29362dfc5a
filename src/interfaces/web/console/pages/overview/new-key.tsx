import { signal } from '@preact/signals';
import { CopyButton } from '../../shared/copy-button.js';
import { Panel } from '../../shared/frame.js';
import { IconButton } from '../../shared/icon.js';
import { takeNewKey } from '../../shared/session.js';

/** The key that the registration made. It is stored only here, until it is dismissed or the page is loaded again. */
const newKey = signal<string | null>(null);

/** Shows the API key that the registration made, to copy. */
export function NewKey() {
  newKey.value = takeNewKey() ?? newKey.value;
  if (!newKey.value) return null;
  return (
    <Panel
      title="Your new API key"
      actions={<IconButton icon="close" label="Dismiss the key" onClick={() => (newKey.value = null)} />}
    >
      <div class="stack">
        <p>Programs use it to call the API. Copy it now: it is not shown again.</p>
        <div class="overview-key">
          <code>{newKey.value}</code> <CopyButton text={newKey.value} label="Copy key" />
        </div>
      </div>
    </Panel>
  );
}
