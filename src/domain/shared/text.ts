/** Returns whether a text has at most `most` code points. Does not count those of a text that is far too long. */
export const atMost = (text: string, most: number): boolean =>
  text.length <= most || (text.length <= 2 * most && [...text].length <= most);

const QUOTED = 100;

/** Returns the beginning of a text that a caller sent, enough to recognise it. Bounds the size of messages. */
export const quoted = (text: string): string =>
  atMost(text, QUOTED) ? text : `${[...text.slice(0, 2 * QUOTED)].slice(0, QUOTED).join('')}…`;

/** Replaces what PostgreSQL cannot store: NUL and lone surrogates. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');
