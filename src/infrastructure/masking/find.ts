/** A part of a text that must not be stored. */
export interface Find {
  readonly from: number;
  /** The index after the last character. */
  readonly to: number;
}

/** Finds one kind of data. Takes time that grows linearly with the text, also if the text is hostile. */
export type Finder = (text: string) => Iterable<Find>;

/** Returns the matches of a global pattern, like `matchAll`. It is faster for short texts, as it copies no pattern. */
export function* matchesOf(text: string, pattern: RegExp): Generator<RegExpExecArray> {
  for (let from = 0; from <= text.length; ) {
    pattern.lastIndex = from;
    const match = pattern.exec(text);
    if (!match) return;
    from = match.index + Math.max(1, match[0].length);
    yield match;
  }
}

/** Returns the finds of a global pattern. With `group`, a find is this group, which must end where the match ends. */
export function* matches(text: string, pattern: RegExp, group = 0): Generator<Find & { readonly found: string }> {
  for (const match of matchesOf(text, pattern)) {
    const found = match[group] ?? '';
    const to = match.index + match[0].length;
    if (found !== '') yield { from: to - found.length, to, found };
  }
}

/** Replaces the matches with underscores, so that the other characters keep their places. */
export const blanked = (text: string, pattern: RegExp): string =>
  text.replace(pattern, (match) => '_'.repeat(match.length));

export const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi;

export const DIGIT = /\d/;
