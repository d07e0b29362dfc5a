import { useEffect, useRef, useState } from 'preact/hooks';
import { Field } from './form.js';
import { query, setQuery } from './router.js';

/** The service refuses longer texts. */
const MOST_CHARACTERS = 100;
const PAUSE_MS = 250;

/** Returns `value` when it has not changed for a moment, so that not every key makes a call. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Returns the text of a `SearchField`, or undefined if it is empty. */
export const searchText = (name = 'q'): string | undefined =>
  query.value.get(name)?.slice(0, MOST_CHARACTERS) || undefined;

/** A text to search for. The parameter `name` of the address keeps it. */
export function SearchField(props: { placeholder?: string; label?: string; name?: string }) {
  const { placeholder, label = 'Search', name = 'q' } = props;
  const now = searchText(name) ?? '';
  const [text, setText] = useState(now);
  const sent = useRef(now);
  if (sent.current !== now) {
    // A link or a step in the history has changed the address.
    sent.current = now;
    setText(now);
  }
  useEffect(() => {
    const next = text.trim();
    if (next === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = next;
      setQuery({ [name]: next });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <Field
      label={label}
      type="search"
      autocomplete="off"
      placeholder={placeholder}
      maxLength={MOST_CHARACTERS}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}
