import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { mayFocusInputs } from '../shared/focus.js';
import { OutageNote } from '../shared/outage-note.js';

/**
 * The frame of a page that needs no session. The title gets the focus when it changes, so that screen readers announce
 * it. On a device with a mouse the first empty input gets it instead. A touch screen would open its keyboard.
 */
export function EntryFrame({ title, children }: { title: string; children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${title} · Tenon`;
    const inputs = mayFocusInputs() ? main.current?.querySelectorAll('input') : [];
    const first = [...(inputs ?? [])].find(({ readOnly, value }) => !readOnly && !value);
    (first ?? main.current?.querySelector('h1'))?.focus();
  }, [title]);
  return (
    <main ref={main} class="entry panel">
      <p class="brand">Tenon</p>
      <h1 tabIndex={-1}>{title}</h1>
      <OutageNote />
      {children}
    </main>
  );
}

/** Takes a secret from the link of the page. Removes it from the address bar and from the history. */
export function takeFromLink(name: string): string | null {
  const value = new URLSearchParams(location.search).get(name);
  if (location.search) history.replaceState(null, '', location.pathname + location.hash);
  return value;
}
