import type { ComponentChildren } from 'preact';

export const NullValue = () => <span class="json-null">null</span>;

/** Finds the values `null`. Strings are found too, so that a `null` within a string is left out. */
const STRING_OR_NULL = /"(?:[^"\\]+|\\.)*"|\bnull\b/g;

/** Shows JSON with a softer tone for the values `null`. */
export function JsonText({ text }: { text: string }) {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(STRING_OR_NULL)) {
    if (found !== 'null') continue;
    parts.push(text.slice(end, index), <NullValue key={index} />);
    end = index + found.length;
  }
  return <>{[...parts, text.slice(end)]}</>;
}
