import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { CopyButton } from './copy-button.js';
import { IconButton } from './icon.js';
import { OutageNote } from './outage-note.js';

const FIRST_FIELD = ':is(input:not([type="file"]), select, textarea):not([hidden], [readonly], :disabled)';

/** Holds the element that gets the focus back from a dialog that just closed. A dialog that takes its place inherits it. */
let heir: Element | null = null;

/** A modal dialog. It opens with the focus in its first field. Escape, the cross and a click beside it call `onClose`, if there is one. */
export function Dialog(props: { title: string; onClose?: () => void; wide?: boolean; children: ComponentChildren }) {
  const { title, onClose, wide, children } = props;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const opener = heir ?? document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    if (!dialog?.querySelector('[autofocus]')) (dialog?.querySelector<HTMLElement>(FIRST_FIELD) ?? dialog)?.focus();
    // Nothing else can have the focus until the dialog is out of the document.
    return () => {
      heir = opener;
      queueMicrotask(() => {
        heir = null;
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
      // A browser closes it at the second Escape, whatever `onCancel` says, and others with it.
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

/** Shows a text that the service gives only once, such as a key, to copy. */
export const ShownOnce = (props: {
  title: string;
  text: string;
  /** The words of the button that copies it. */
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
  /** The word on the button that does it, such as `Delete`. */
  readonly act: string;
  readonly answer: (yes: boolean) => void;
}
const question = signal<Question | null>(null);

/** Asks before an act that cannot be undone. Resolves to the choice. */
export const confirmAct = (asked: Omit<Question, 'answer'>): Promise<boolean> =>
  new Promise((resolve) => {
    question.value = {
      ...asked,
      answer: (yes) => {
        question.value = null;
        resolve(yes);
      },
    };
  });

/** Shows the question of `confirmAct`. */
export function Confirmation() {
  const asked = question.value;
  if (!asked) return null;
  return (
    <Dialog title={asked.title} onClose={() => asked.answer(false)}>
      <p>{asked.text}</p>
      <div class="actions">
        <button type="button" class="button" onClick={() => asked.answer(false)}>
          Cancel
        </button>
        <button type="button" class="button danger" onClick={() => asked.answer(true)}>
          {asked.act}
        </button>
      </div>
    </Dialog>
  );
}
