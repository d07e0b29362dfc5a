import { signal } from '@preact/signals';
import { forUser } from './account.js';
import { ApiError } from './api.js';
import { CopyButton } from './copy-button.js';
import { IconButton } from './icon.js';

interface Toast {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly text: string;
  readonly requestId: string | null;
}

const SHOWN_FOR_MS = 6_000;
const MOST = 4;
const toasts = signal<readonly Toast[]>([]);
let count = 0;

function show(toast: Omit<Toast, 'id'>, forMs: number | null): void {
  const id = ++count;
  toasts.value = [...toasts.value, { ...toast, id }].slice(-MOST);
  if (forMs !== null) setTimeout(() => dismiss(id), forMs);
}

const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** Shows for a short time that something is done. */
export const toast = (text: string): void => show({ kind: 'done', text, requestId: null }, SHOWN_FOR_MS);

/** Shows an error with the service's message until the user closes it. */
export const toastError = (reason: unknown): void =>
  show(
    {
      kind: 'failed',
      text: reason instanceof Error ? forUser(reason.message) : String(reason),
      requestId: reason instanceof ApiError ? reason.requestId : null,
    },
    null,
  );

/** Waits for an action. Then shows the text `done`, or why the action failed. */
export const report = (act: Promise<unknown>, done: string): Promise<void> => act.then(() => toast(done), toastError);

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, kind, text, requestId }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <p dir="auto">{text}</p>
          {requestId && <CopyButton text={requestId} label="Copy request id" />}
          <IconButton icon="close" label="Close this message" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
