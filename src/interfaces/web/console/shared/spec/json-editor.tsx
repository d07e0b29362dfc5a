import type { RefObject } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type JsonSource, lineAndColumn } from '../json-source.js';

const INDENT = '  ';
const FEWEST_LINES = 12;
const MOST_LINES = 32;

/** Edits a JSON text with line numbers. Tab indents. After Escape, Tab leaves the field. */
export function JsonEditor(props: {
  label: string;
  text: string;
  source: JsonSource;
  element: RefObject<HTMLTextAreaElement | null>;
  onText: (text: string) => void;
}) {
  const { label, text, source, element, onText } = props;
  const id = useId();
  const numbers = useRef<HTMLPreElement>(null);
  const mayLeave = useRef(false);
  const lines = text.split('\n').length;
  const { problem } = source;
  const place = problem && lineAndColumn(text, problem.offset);
  const onKeyDown = (event: KeyboardEvent) => {
    const left = mayLeave.current;
    mayLeave.current = event.key === 'Escape';
    if (!element.current) return;
    const plain = !event.ctrlKey && !event.altKey && !event.metaKey;
    if (event.key === 'Tab' && plain && !left) {
      event.preventDefault();
      indent(element.current, event.shiftKey);
    } else if (event.key === 'Enter' && plain && !event.shiftKey) {
      event.preventDefault();
      breakLine(element.current);
    } else if (left && event.key === 'Shift') mayLeave.current = true; // Shift+Tab also leaves.
  };
  const scroll = () => {
    if (numbers.current && element.current) numbers.current.scrollTop = element.current.scrollTop;
  };
  useEffect(scroll, [text]);
  return (
    <div class="json">
      <label for={id}>{label}</label>
      <div class={problem ? 'json-field invalid' : 'json-field'}>
        <pre ref={numbers} class="json-numbers" aria-hidden="true">
          {Array.from({ length: lines }, (_, index) => index + 1).join('\n')}
        </pre>
        <textarea
          id={id}
          ref={element}
          class="code"
          wrap="off"
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          rows={Math.min(Math.max(lines + 1, FEWEST_LINES), MOST_LINES)}
          value={text}
          aria-invalid={problem ? 'true' : undefined}
          aria-describedby={`${id}-note ${id}-keys`}
          onInput={(event) => onText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onFocus={() => {
            mayLeave.current = false;
          }}
          onScroll={scroll}
        />
      </div>
      <p id={`${id}-note`} class="field-note error" aria-live="polite">
        {problem && place && (
          <>
            <button
              type="button"
              class="jump"
              onClick={() => element.current && jumpTo(element.current, problem.offset)}
            >
              Line {place.line}, column {place.column}
            </button>{' '}
            {problem.message}
          </>
        )}
      </p>
      <p id={`${id}-keys`} class="hint">
        Tab indents. To leave the field by keyboard, press Escape, then Tab.
      </p>
    </div>
  );
}

/** Shows a JSON text to a reader who may not change it. */
export const JsonText = (props: { label: string; text: string; element: RefObject<HTMLPreElement | null> }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark.
  <div class="json" role="group" aria-label={props.label}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling element. */}
    <pre ref={props.element} class="json-text" tabIndex={0}>
      {props.text}
    </pre>
  </div>
);

/** Moves the focus to a place of the text and selects the rest of its line. */
export function jumpTo(element: HTMLTextAreaElement | HTMLPreElement, offset: number): void {
  const text = 'value' in element ? element.value : (element.textContent ?? '');
  const next = text.indexOf('\n', offset);
  const end = next < 0 ? text.length : next;
  const { line } = lineAndColumn(text, offset);
  element.focus();
  if ('value' in element) element.setSelectionRange(offset, end);
  else if (element.firstChild) getSelection()?.setBaseAndExtent(element.firstChild, offset, element.firstChild, end);
  const height = element.scrollHeight / text.split('\n').length;
  element.scrollTop = Math.max(0, (line - 3) * height);
  element.scrollLeft = 0;
}

/** Replaces the selection in a way that the browser can undo. */
function insert(element: HTMLTextAreaElement, text: string): void {
  if (document.execCommand('insertText', false, text)) return;
  element.setRangeText(text, element.selectionStart, element.selectionEnd, 'end');
  element.dispatchEvent(new InputEvent('input', { bubbles: true }));
}

function breakLine(element: HTMLTextAreaElement): void {
  const before = element.value.slice(0, element.selectionStart);
  const [blank = ''] = /^[ \t]*/.exec(before.slice(before.lastIndexOf('\n') + 1)) ?? [];
  insert(element, `\n${blank}${/[{[]\s*$/.test(before) ? INDENT : ''}`);
}

function indent(element: HTMLTextAreaElement, back: boolean): void {
  const { value, selectionStart: from, selectionEnd: to } = element;
  if (!back && !value.slice(from, to).includes('\n')) {
    insert(element, INDENT);
    return;
  }
  const start = value.lastIndexOf('\n', from - 1) + 1;
  const end = to > from && value[to - 1] === '\n' ? to - 1 : to;
  const lines = value.slice(start, end).split('\n');
  const moved = lines.map((line) => (back ? line.replace(/^ {1,2}|^\t/, '') : line && INDENT + line)).join('\n');
  if (moved === lines.join('\n')) return;
  element.setSelectionRange(start, end);
  insert(element, moved);
  if (lines.length > 1) element.setSelectionRange(start, start + moved.length);
}
