import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { CopyButton } from './copy-button.js';
import { mayFocusInputs } from './focus.js';
import { IconButton } from './icon.js';
import { OutageNote } from './outage-note.js';

const FIRST_FIELD = ':is(input:not([type="file"]), select, textarea):not([hidden], [readonly], :disabled)';

/** The element that gets the focus after a dialog closed, also if another dialog opens at once. */
let focusAfterClose: Element | null = null;

/** Shows a modal dialog. Focuses its first field, or on a touch screen the dialog. Escape, the cross and a click outside call `onClose`. */
export function Dialog(props: { title: string; onClose?: () => void; wide?: boolean; children: ComponentChildren }) {
  const { title, onClose, wide, children } = props;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const opener = focusAfterClose ?? document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    const field = mayFocusInputs() ? dialog?.querySelector<HTMLElement>(FIRST_FIELD) : null;
    (field ?? dialog)?.focus();
    // A microtask restores the focus, because elements outside of the dialog are inert until the dialog is removed.
    return () => {
      focusAfterClose = opener;
      queueMicrotask(() => {
        focusAfterClose = null;
        if (opener instanceof HTMLElement) opener.focus();
      });
    };
  }, []);
  return (
    <dialog
      ref={element}
      tabIndex={-1}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      // At the second Escape, a browser closes the dialog even if `onCancel` prevents it. Other dialogs close too.
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !onClose) event.preventDefault();
      }}
      onClose={() => (onClose ? onClose() : element.current?.showModal())}
      onClick={(event) => event.target === element.current && onClose?.()}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          {onClose && <IconButton icon="close" label="Close" onClick={onClose} />}
        </header>
        <OutageNote />
        {children}
      </div>
    </dialog>
  );
}

/** Shows a text that the service returns only once, such as a key. The user can copy it. */
export const ShownOnce = (props: {
  title: string;
  text: string;
  /** The label of the button that copies the text. */
  copy: string;
  onClose: () => void;
  children: ComponentChildren;
}) => (
  <Dialog title={props.title} onClose={props.onClose}>
    <p>{props.children}</p>
    <pre>{props.text}</pre>
    <div class="actions">
      <CopyButton text={props.text} label={props.copy} />
      <button type="button" class="button primary" onClick={props.onClose}>
        Done
      </button>
    </div>
  </Dialog>
);

interface Question {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms, such as `Delete`. */
  readonly act: string;
  readonly answer: (yes: boolean) => void;
}
const question = signal<Question | null>(null);

/** Asks before an action that cannot be undone. Resolves to the user's choice. */
export const confirmAct = (content: Omit<Question, 'answer'>): Promise<boolean> =>
  new Promise((resolve) => {
    question.value = {
      ...content,
      answer: (yes) => {
        question.value = null;
        resolve(yes);
      },
    };
  });

export function Confirmation() {
  const shown = question.value;
  if (!shown) return null;
  return (
    <Dialog title={shown.title} onClose={() => shown.answer(false)}>
      <p dir="auto">{shown.text}</p>
      <div class="actions">
        <button type="button" class="button" onClick={() => shown.answer(false)}>
          Cancel
        </button>
        <button type="button" class="button danger" onClick={() => shown.answer(true)}>
          {shown.act}
        </button>
      </div>
    </Dialog>
  );
}
