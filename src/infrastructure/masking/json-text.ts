import { isDigit } from './characters.js';
import { holdsName, holdsValue, isSecretUnder } from './secret-keys.js';
import { namesSecret } from './secrets.js';

/** A string, number or key within a text of JSON. */
export interface JsonPart {
  readonly from: number;
  readonly to: number;
  /** The value of a string without its escapes, or a number as it is written. */
  readonly text: string;
  /** True: it is a value under the name of a secret, also within objects and lists. False for keys. */
  readonly isSecret: boolean;
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

type Part = JsonPart & { readonly isKey: boolean };
type Reader = (part: Part) => void;

/** Consecutive parts, by their numbers. */
interface Range {
  readonly first: number;
  /** The number of the first part after the range. */
  end: number;
}

/** An object or list that is not closed yet. */
interface Open {
  readonly isList: boolean;
  /** True: it stands under the name of a secret. */
  readonly isSecret: boolean;
  /** True: a member such as `name` holds the name of a secret, so that the member `value` is one. */
  isNamed: boolean;
  /** The parts of the members `value`. There are several if the key is repeated. */
  readonly values: Range[];
  /** The last of them, while it is open. */
  value: Range | null;
}

/** A member `value` may be a secret by a name that follows it. Its key may be written with escapes. */
const MAYBE_NAMED = /value|\\u/i;

/** Calls `read` with each part of a text that is a JSON object or list. */
export function readParts(text: string, read: (part: JsonPart) => void): void {
  const secretValues = MAYBE_NAMED.test(text) ? walk(text, () => undefined) : [];
  walk(text, withSecrets(secretValues, read));
}

/** Calls `read` with each part, and returns the members `value` that are secrets by their names. */
function walk(text: string, read: Reader): Range[] {
  let count = 0;
  const named: Range[] = [];
  const open: Open[] = [];
  let scope: Open | undefined;
  let last = '';
  let key: string | null = null;
  let isSecret = false;
  for (let from = 0, to = 0; from < text.length; from = to) {
    const code = text.charCodeAt(from);
    to = from + 1;
    if (code === QUOTE || code === MINUS || isDigit(code)) {
      to = code === QUOTE ? endOfString(text, from) : endOfNumber(text, from);
      last = code === QUOTE ? unescaped(text, from, to) : text.slice(from, to);
      count++;
      read({ from, to, text: last, isSecret, isKey: key === null && scope?.isList === false });
      if (scope && key !== null && holdsName(key) && namesSecret(last)) scope.isNamed = true;
    } else if (code === COLON && scope) {
      key = last;
      isSecret = isSecretUnder(key, scope.isSecret);
      if (holdsValue(key)) scope.value = { first: count, end: count };
      if (scope.value) scope.values.push(scope.value);
    } else if (code === LIST || code === OBJECT) {
      scope = { isList: code === LIST, isSecret, isNamed: false, values: [], value: null };
      open.push(scope);
      key = null;
      if (code === OBJECT) isSecret = false;
    } else if (code === COMMA || code === END_OF_LIST || code === END_OF_OBJECT) {
      if (scope?.value) scope.value.end = count;
      if (scope) scope.value = null;
      key = null;
      isSecret = scope?.isList === true && scope.isSecret;
      if (code === COMMA) continue;
      if (scope?.isNamed) for (const range of scope.values) named.push(range);
      open.pop();
      scope = open.at(-1);
    }
  }
  return named;
}

/** Marks the values in these ranges, which may contain each other. */
function withSecrets(ranges: readonly Range[], read: Reader): Reader {
  if (ranges.length === 0) return read;
  const changes = new Map<number, number>();
  for (const { first, end } of ranges) {
    changes.set(first, (changes.get(first) ?? 0) + 1);
    changes.set(end, (changes.get(end) ?? 0) - 1);
  }
  let [count, depth] = [0, 0];
  return (part) => {
    depth += changes.get(count++) ?? 0;
    read(depth > 0 && !part.isKey ? { ...part, isSecret: true } : part);
  };
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
