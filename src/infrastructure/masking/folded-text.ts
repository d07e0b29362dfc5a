import { hexValue } from './characters.js';

/** A text in which escapes and special forms of characters are replaced by plain characters. */
export interface FoldedText {
  readonly text: string;
  /** Returns the index in the original text. */
  original(index: number): number;
}

/** A part of a text, and what it is replaced by. With null it stays as it is. */
interface Piece {
  readonly plain: string | null;
  readonly length: number;
}

const MAYBE_SPECIAL = /[\\%&\x80-\uffff]/;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AND = 0x26;

const SHORT = 100;

/** Returns null if there is nothing to replace. No replacement is longer than what it replaces. */
export function folded(text: string): FoldedText | null {
  if (!MAYBE_SPECIAL.test(text)) return null;
  const first = firstReplaced(text);
  if (first === null) return null;
  const isShort = text.length < SHORT;
  const units = isShort ? [] : new Uint16Array(text.length);
  /** The original index of each unit, and of the end. */
  const originals = isShort ? [] : new Uint32Array(text.length + 1);
  let length = 0;
  const add = (code: number, original: number) => {
    units[length] = code;
    originals[length++] = original;
  };
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const { plain, length: size } = at < first || isPlain(code) ? KEPT : pieceAt(text, at, code);
    if (plain === null) for (let unit = 0; unit < size; unit++) add(text.charCodeAt(at + unit), at + unit);
    else for (let unit = 0; unit < plain.length; unit++) add(plain.charCodeAt(unit), at);
    at += size;
  }
  originals[length] = text.length;
  return { text: textOf(units, length), original: (index) => originals[index] as number };
}

const isPlain = (code: number): boolean => code < 0x80 && code !== BACKSLASH && code !== PERCENT && code !== AND;

/** Returns the index of the first piece that is replaced, or null. */
function firstReplaced(text: string): number | null {
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const { plain, length } = isPlain(code) ? KEPT : pieceAt(text, at, code);
    if (plain !== null) return at;
    at += length;
  }
  return null;
}

const textOf = (units: number[] | Uint16Array, length: number): string =>
  Array.isArray(units) ? String.fromCharCode(...units) : Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');

const KEPT: Piece = { plain: null, length: 1 };

function pieceAt(text: string, at: number, code: number): Piece {
  if (code === BACKSLASH) return backslashes(text, at);
  if (code === PERCENT) return escaped(text, at + 1, 2, at) ?? KEPT;
  return code === AND ? (entity(text, at) ?? KEPT) : character(text, at);
}

const WHITE: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: ' ', f: ' ' };
/** JSON within JSON has more than one backslash. */
const MOST_BACKSLASHES = 8;

function backslashes(text: string, at: number): Piece {
  let end = at + 1;
  while (text.charCodeAt(end) === BACKSLASH) end++;
  const kept = { plain: null, length: end - at };
  const letter = text[end] ?? '';
  if (end - at > MOST_BACKSLASHES || letter === '') return kept;
  if (letter === 'u' || letter === 'x') return escaped(text, end + 1, letter === 'u' ? 4 : 2, at) ?? kept;
  return `"'/bfnrt`.includes(letter) ? { plain: WHITE[letter] ?? letter, length: end + 1 - at } : kept;
}

/** Reads a character from hexadecimal digits. Its piece begins at `begin`. */
function escaped(text: string, at: number, digits: number, begin: number): Piece | null {
  let code = 0;
  for (let digit = 0; digit < digits; digit++) {
    const value = hexValue(text.charCodeAt(at + digit));
    if (value < 0) return null;
    code = code * 16 + value;
  }
  return { plain: plainOf(code), length: at + digits - begin };
}

const MOST_ENTITY = 12;
const ENTITY = /^&#(?:(\d{2,7})|[xX]([0-9a-fA-F]{2,6}));/;

function entity(text: string, at: number): Piece | null {
  if (text[at + 1] !== '#') return null;
  const [all, decimal, hex = ''] = ENTITY.exec(text.slice(at, at + MOST_ENTITY)) ?? [];
  if (all === undefined) return null;
  return { plain: plainOf(decimal ? Number(decimal) : Number.parseInt(hex, 16)), length: all.length };
}

const plainOf = (code: number): string =>
  code >= 0x20 && code <= 0x10_ffff ? plainCharacter(String.fromCodePoint(code)) : ' ';

/** The pieces of characters that were read before, by their codes. */
const known = new Map<number, Piece>();
const MOST_KNOWN = 4_000;

function character(text: string, at: number): Piece {
  const code = text.codePointAt(at) as number;
  const before = known.get(code);
  if (before) return before;
  const original = String.fromCodePoint(code);
  const plain = plainCharacter(original);
  const piece = { plain: plain === original ? null : plain, length: original.length };
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(code, piece);
  return piece;
}

const INVISIBLE = /^(?:\p{Cf}|[\ufe00-\ufe0f]|[\u115f\u1160\u3164]|\u034f)$/u;
const FORM = /^[\p{Nd}\p{Pd}\p{Zs}\u2024\u2212\u3002\uff01-\uff61\u{1d400}-\u{1d7ff}]$/u;

function plainCharacter(original: string): string {
  if (original <= '\x7f') return original;
  if (INVISIBLE.test(original)) return '';
  if (!FORM.test(original)) return original;
  if (/^[\u3002\uff61]$/.test(original)) return '.';
  if (/^[\p{Pd}\u2212]$/u.test(original)) return '-';
  if (/^\p{Zs}$/u.test(original)) return ' ';
  const plain = original.normalize('NFKC');
  if (/^[\0-\x7f]$/.test(plain)) return plain;
  return /^\p{Nd}$/u.test(original) ? String(digitOf(original)) : original;
}

/** Unicode lists the digits of a script from 0 to 9. */
function digitOf(original: string): number {
  const code = original.codePointAt(0) as number;
  let digit = 0;
  while (digit < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - digit - 1))) digit++;
  return digit;
}
