/** Whether a text has at most so many characters (code points); one that is far too long is not taken apart for that. */
export const atMost = (text: string, most: number): boolean =>
  text.length <= most || (text.length <= 2 * most && [...text].length <= most);

const QUOTED = 100;

/** Returns the beginning of a text that a caller sent, enough to recognise it. Bounds the size of messages. */
export const quoted = (text: string): string =>
  atMost(text, QUOTED) ? text : `${[...text.slice(0, 2 * QUOTED)].slice(0, QUOTED).join('')}…`;

/** A model may say anything; the database takes neither NUL nor half of a surrogate pair. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');
