import { useRef, useState } from 'preact/hooks';
import { Icon } from './icon.js';

const SAID_FOR_MS = 2_000;

/** Copies `text`, and shows whether the browser allowed it. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, say] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const onClick = async () => {
    const done = await copied(text, button.current);
    say(done ? 'Copied' : 'The browser forbids copying');
    setTimeout(() => say(null), SAID_FOR_MS);
  };
  return (
    <button ref={button} type="button" class="button small" onClick={onClick}>
      <Icon name="copy" />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}

/** Copies with the clipboard API, or with the old command, because pages over plain HTTP may have no clipboard API. */
async function copied(text: string, button: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    button?.after(field); // While a dialog is open, only a field inside the dialog can be selected.
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    button?.focus();
    return done;
  }
}
