import { isDigit } from './characters.js';

/** A string, number or key within a text of JSON. */
export interface JsonPart {
  readonly from: number;
  readonly to: number;
  /** The value of a string without its escapes, or a number as it is written. */
  readonly text: string;
  /** The key of the value, or of the list in which it is. It is null for a key. */
  readonly key: string | null;
}

const [QUOTE, BACKSLASH, COLON, MINUS, COMMA] = [0x22, 0x5c, 0x3a, 0x2d, 0x2c];
const [LIST, END_OF_LIST, OBJECT, END_OF_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Tells whether a text is a JSON object or list. */
export function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Calls `read` with each part of a text that is a JSON object or list. */
export function readParts(text: string, read: (part: JsonPart) => void): void {
  /** The key of each open list, and undefined for an open object. */
  const open: (string | null | undefined)[] = [];
  let last: string | null = null;
  let key: string | null = null;
  for (let from = 0, to = 0; from < text.length; from = to) {
    const code = text.charCodeAt(from);
    to = from + 1;
    if (code === QUOTE || code === MINUS || isDigit(code)) {
      to = code === QUOTE ? endOfString(text, from) : endOfNumber(text, from);
      last = code === QUOTE ? unescaped(text, from, to) : text.slice(from, to);
      read({ from, to, text: last, key });
    } else if (code === COLON) key = last;
    else if (code === LIST || code === OBJECT) {
      open.push(code === LIST ? key : undefined);
      if (code === OBJECT) key = null;
    } else if (code === END_OF_LIST || code === END_OF_OBJECT) open.pop();
    else if (code === COMMA) key = open.at(-1) ?? null;
  }
}

/** Returns the index after the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1;
  return at + 1;
}

function unescaped(text: string, from: number, to: number): string {
  const written = text.slice(from, to);
  return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
}

/** Returns the index after the digits and the signs of a number. */
function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && '0123456789.eE+-'.includes(text[at] as string)) at++;
  return at;
}
