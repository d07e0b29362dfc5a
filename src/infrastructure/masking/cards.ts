import { isDigit } from './characters.js';
import { DIGIT, type Find, matchesOf } from './find.js';

/** All brands begin with 2 to 6: Visa, Mastercard, American Express, Diners Club, JCB, Discover and UnionPay, Maestro, Mir. */
const BRANDS = new RegExp(
  '^(?:4(?:\\d{15}|\\d{18})' +
    '|(?:5[1-5]\\d{14}|2(?:22[1-9]|2[3-9]\\d|[3-6]\\d\\d|7[01]\\d|720)\\d{12})' +
    '|3[47]\\d{13}|3(?:0[0-59]|[689]\\d)\\d{11,16}|35(?:2[89]|[3-8]\\d)\\d{12,15}' +
    '|6(?:011|4[4-9]\\d|5\\d\\d|2\\d\\d)\\d{12,15}|(?:50\\d\\d|5[6-8]\\d\\d|6\\d{3})\\d{12,15}|220[0-4]\\d{12,15})$',
);
const WHOLE = /(?<!\d)[2-6]\d{13,18}(?!\d)/g;
/**
 * Groups of 4 4 4 digits with 2 to 4 more, and perhaps again 1 to 3 more, of 4 6 4 or of 4 6 5. They are only looked at, as
 * they may overlap.
 */
const GROUPED = new RegExp(
  '(?<!\\d)(?=[2-6]\\d{3}([ ._/]| {2}| ?- ?)(?:' +
    '(\\d{4}\\1\\d{4}\\1\\d{2,4}(?!\\d))(\\1\\d{1,3}(?!\\d))?|(\\d{6}\\1\\d{4,5}(?!\\d))))',
  'g',
);

/** Finds card numbers with a correct check digit, in one piece or in the groups that cards show. */
export function* cards(text: string): Generator<Find> {
  if (!DIGIT.test(text)) return;
  for (const { 0: digits, index } of matchesOf(text, WHOLE)) yield* numberIn(text, index, index + digits.length);
  for (const { 1: sign = '', 2: first, 3: more, 4: middle, index } of matchesOf(text, GROUPED)) {
    const to = index + 4 + sign.length + (first ?? middle ?? '').length;
    yield* numberIn(text, index, to);
    if (more) yield* numberIn(text, index, to + more.length);
  }
}

function* numberIn(text: string, from: number, to: number): Generator<Find> {
  if (!hasCheckDigit(text, from, to) || !isApart(text, from, to)) return;
  if (BRANDS.test(text.slice(from, to).replace(/\D/g, ''))) yield { from, to };
}

/** Checks the formula of Luhn for the digits of a part of the text. */
function hasCheckDigit(text: string, from: number, to: number): boolean {
  let sum = 0;
  let isDoubled = false;
  for (let at = to - 1; at >= from; at--) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) continue;
    const digit = isDoubled ? 2 * (code - 48) : code - 48;
    sum += digit > 9 ? digit - 9 : digit;
    isDoubled = !isDoubled;
  }
  return sum % 10 === 0;
}

/** Tells whether digits are no part of a decimal number or of a long hexadecimal one. */
function isApart(text: string, from: number, to: number): boolean {
  if (text[from - 1] === '.' && isDigit(text.charCodeAt(from - 2))) return false;
  if (text[to] === '.' && isDigit(text.charCodeAt(to + 1))) return false;
  if (!/[\da-z]/i.test(`${text[from - 1] ?? ''}${text[to] ?? ''}`)) return true;
  const before = /[\da-z]*$/i.exec(text.slice(Math.max(0, from - 64), from))?.[0];
  const word = `${before}${text.slice(from, to)}${/^[\da-z]*/i.exec(text.slice(to, to + 64))?.[0]}`;
  return !(/[a-f]/i.test(word) && /^[\da-f]{24,}$/i.test(word));
}
