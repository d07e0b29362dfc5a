import { useState } from 'preact/hooks';
import { Icon } from './icon.js';

const SAID_FOR_MS = 2_000;

/** Copies `text`. Says "Copied", or "Press Ctrl+C" beside the selected text if the browser forbids it. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, say] = useState<string | null>(null);
  const copy = async () => {
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    say(done ? 'Copied' : 'The browser forbids copying');
    setTimeout(() => say(null), SAID_FOR_MS);
  };
  return (
    <button type="button" class="button small" onClick={copy}>
      <Icon name="copy" />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
