import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { mayFocusInputs } from '../../shared/focus.js';
import { Icon } from '../../shared/icon.js';

/** Lets the user type a question. Enter sends it, Shift+Enter starts a new line, Escape stops the answers. */
export function Composer(props: {
  input: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
  onStop: () => void;
  isAnswering: boolean;
}) {
  const { input, text, onText, onSend, onStop, isAnswering } = props;
  useEffect(() => {
    if (!mayFocusInputs()) return;
    const frame = requestAnimationFrame(() => input.current?.focus({ preventScroll: true }));
    return () => cancelAnimationFrame(frame);
  }, []);
  useEffect(() => {
    if (!isAnswering) return;
    const onKey = (event: KeyboardEvent) =>
      event.key === 'Escape' && !document.querySelector('dialog[open]') && onStop();
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isAnswering]);
  return (
    <form
      class="playground-composer"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <textarea
        ref={input}
        dir="auto"
        class="playground-input"
        aria-label="Your question"
        placeholder="Ask something"
        rows={2}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          onSend();
        }}
      />
      <div class="actions">
        <span class="hint playground-keys">Enter sends, Shift+Enter breaks the line, Esc stops</span>
        {isAnswering ? (
          <button type="button" class="button" onClick={onStop}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <button type="submit" class="button primary" disabled={text.trim() === ''}>
            Send
          </button>
        )}
      </div>
    </form>
  );
}
