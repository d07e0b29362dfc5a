import { outage, tryNow } from '../shared/api.js';
import { CopyButton } from '../shared/copy-button.js';
import { formatClock } from '../shared/format.js';

/** Says once for the whole console why nothing is loaded now, and when the next try is. */
export function OutageNote() {
  const now = outage.value;
  if (!now) return null;
  const { words, requestId, isLimited, nextTryAt } = now;
  return (
    <div class="note warn outage">
      <p role="status">{words} What you see stays, and is loaded again by itself.</p>
      <div class="actions start">
        <span>{nextTryAt === null ? 'Trying now …' : `Next try at ${formatClock(nextTryAt / 1000)}.`}</span>
        {!isLimited && (
          <button
            type="button"
            class="button small"
            disabled={nextTryAt === null}
            aria-busy={nextTryAt === null}
            onClick={tryNow}
          >
            Try now
          </button>
        )}
        {requestId && <CopyButton text={requestId} label="Copy request id" />}
      </div>
    </div>
  );
}
