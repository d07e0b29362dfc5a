import type { Schemas } from '../../shared/api.js';
import { formatBytes, formatNumber } from '../../shared/format.js';
import { Panel } from '../../shared/frame.js';

type Storage = Schemas['Status']['storage'];

/** The share of a limit from which on it is marked. */
const NEARLY_FULL = 0.9;

const NAMES: readonly (readonly [keyof Storage, string, (amount: number) => string])[] = [
  ['projects', 'Projects of your team', formatNumber],
  ['workspace_bytes', 'Specs and datasets of your team', formatBytes],
  ['external_jobs', 'External jobs of your team', formatNumber],
  ['conversation_bytes', 'Your conversations', formatBytes],
  ['response_bytes', 'Your responses', formatBytes],
  ['upload_bytes', 'Uploaded models', formatBytes],
];

/** Shows what is stored, and how much may be stored. */
export function StoragePanel({ storage }: { storage: Storage }) {
  return (
    <Panel title="Storage">
      <ul class="overview-rows" aria-label="Storage">
        {NAMES.map(([name, text, format]) => {
          const amount = storage[name];
          if (!amount) return null;
          const { used, limit } = amount;
          return (
            <li key={name}>
              <span>{text}</span>
              {used >= NEARLY_FULL * limit && <span class="state warn">{used >= limit ? 'full' : 'nearly full'}</span>}
              <span>
                {format(used)} <span class="hint">of {format(limit)}</span>
              </span>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
