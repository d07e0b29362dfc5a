import { outage, tryNow } from './api.js';
import { CopyButton } from './copy-button.js';
import { formatClock } from './format.js';

/**
 * Shows why nothing is loaded now, and the time of the next attempt. Every modal dialog has such a note too, because
 * the page behind it cannot be used.
 */
export function OutageNote() {
  const now = outage.value;
  return (
    <div class={now ? 'note warn outage' : 'outage-none'}>
      <p role="status">{now && `${now.words} What you see stays, and is loaded again by itself.`}</p>
      {now && (
        <div class="actions start">
          <span>{now.nextTryAt === null ? 'Trying now …' : `Next try at ${formatClock(now.nextTryAt / 1000)}.`}</span>
          {!now.isLimited && (
            <button
              type="button"
              class="button small"
              disabled={now.nextTryAt === null}
              aria-busy={now.nextTryAt === null}
              onClick={tryNow}
            >
              Try now
            </button>
          )}
          {now.requestId && <CopyButton text={now.requestId} label="Copy request id" />}
        </div>
      )}
    </div>
  );
}
