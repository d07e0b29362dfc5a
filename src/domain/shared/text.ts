/** Tells whether a text has at most `most` code points. Counts them only if the string's `length` does not decide. */
export const atMost = (text: string, most: number): boolean =>
  text.length <= most || (text.length <= 2 * most && [...text].length <= most);

const QUOTED = 100;

/** Returns the first 100 characters of a text that a caller sent. Keeps messages short. */
export const quoted = (text: string): string =>
  atMost(text, QUOTED) ? text : `${[...text.slice(0, 2 * QUOTED)].slice(0, QUOTED).join('')}…`;

/** Replaces NUL and lone surrogates, because PostgreSQL cannot store them. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** Returns why PostgreSQL cannot store a string or a number. Returns null if PostgreSQL can store it. */
export function unstorableLeaf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a number that fits a double';
  if (typeof value !== 'string') return null;
  if (value.includes('\0')) return 'must not contain the NUL character';
  return value.isWellFormed() ? null : 'must not contain half of a surrogate pair';
}

interface JsonNesting {
  /** The deepest level of arrays and objects. */
  readonly depth: number;
  /** The number of arrays and objects. */
  readonly containers: number;
  /** 1 + the number of opening brackets and commas. The text has at most this many values. */
  readonly values: number;
  /** The number of members of all objects. */
  readonly keys: number;
  /** The name of the last member of the outermost object, with its escapes. Empty if there is no member. */
  readonly member: string;
}

/** Measures JSON text before it is parsed. Stops as soon as the text exceeds `mostDepth` or `mostValues`. */
export function jsonNesting(text: string, mostDepth: number, mostValues: number): JsonNesting {
  let [name, member] = [0, 0];
  let level = 0;
  let depth = 0;
  let containers = 0;
  let values = 1;
  let keys = 0;
  for (let at = 0; at < text.length && depth <= mostDepth && values <= mostValues; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      name = at + 1;
      at = endOfString(text, name);
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      containers++;
      values++;
      if (++level > depth) depth = level;
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) level--;
    else if (character === COMMA) values++;
    else if (character === COLON) {
      keys++;
      if (level === 1) member = name;
    }
  }
  return { depth, containers, values, keys, member: text.slice(member, member && endOfString(text, member)) };
}

/** Returns the index of the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (quote - escapes > from && text.charCodeAt(quote - escapes - 1) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote;
  }
  return text.length;
}

const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COMMA, COLON] = [...'"\\{}[],:'].map(
  (character) => character.charCodeAt(0),
);

const NUMBER = /-?\d[\d.eE+-]*/y;

/** Returns the first number in JSON text that a double would round, or null. The text must be valid JSON. */
export function firstInexactNumber(text: string): string | null {
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '"') at = endOfString(text, at + 1);
    else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = at;
      const [number = character] = NUMBER.exec(text) ?? [];
      if (!isExact(number)) return number;
      at += number.length - 1;
    }
  }
  return null;
}

/** Tells whether a double keeps the number unchanged. A too large number counts as exact: another rule refuses it. */
function isExact(number: string): boolean {
  if (/^-?\d{1,15}$/.test(number)) return true; // a double keeps any 15 digits
  const double = Number(number);
  return !Number.isFinite(double) || decimal(number) === decimal(String(double));
}

/** Returns the digits without leading and trailing zeros, and the exponent. Equal values give equal texts. */
function decimal(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let [from, to] = [0, digits.length];
  while (digits[from] === '0') from++;
  while (to > from && digits[to - 1] === '0') to--;
  const significant = digits.slice(from, to);
  return significant === '' ? '0' : `${significant}e${Number(exponent) - fraction.length + digits.length - to}`;
}

/** Returns about the memory that a text takes in a map or a set, in bytes. */
export const heldBytes = (text: string): number => 100 + 2 * text.length;

/** Returns the number of bytes of a text in UTF-8. A lone surrogate counts as the character that replaces it. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes++;
    else {
      bytes += 2;
      const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
      if (isPair) at++; // two units are four bytes
    }
  }
  return bytes;
}
