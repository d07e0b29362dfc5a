import { blanked, DIGIT, type Find, matches, UUID } from './find.js';

const NEXT = '(?:[ .\\/()-]{0,3}\\d)';
const APART = '(?<![\\w+]|\\d[.,:\\/-])';
/** With a country code: +49 30 1234567, 0049 30 1234567, 011 49 30 1234567. */
const ABROAD = new RegExp(
  `${APART}(?:\\((?=[+\\d]\\d{0,5}\\)))?(?:\\+|00|0?011[ -])[ (]?[1-9]${NEXT}{6,14}(?!\\d)`,
  'g',
);
/** With an area code that begins with zero: 030 1234567, 06 12 34 56 78. */
const INLAND = new RegExp(`${APART}(?:\\((?=\\d{2,6}\\)))?0[1-9]${NEXT}{7,11}(?!\\d)`, 'g');
/** With an area code in brackets: (11) 91234-5678, 8 (495) 123-45-67. */
const BRACKETED = new RegExp(
  `${APART}(?:8 ?)?\\((?!(?:19|20)\\d\\d\\))\\d{2,5}\\)[ -]?\\d{2,5}(?:[ -]\\d{2,4}){1,3}(?!\\w|[.,-]\\d)`,
  'g',
);
/** As in North America: (555) 234-5678, (555)2345678, 1-800-234-5678. */
const AMERICAN = new RegExp(
  `${APART}(?:1[ .-]?)?(?:\\([2-9]\\d{2}\\)[ -]?(?=[2-9]\\d{6})|(?:\\([2-9]\\d{2}\\)[ -]?|[2-9]\\d{2}[ .-])(?=[2-9]\\d{2}[ .-]))` +
    '[2-9]\\d{2}[ .-]?\\d{4}(?!\\w|[.,-]\\d)',
  'g',
);
/** After a word that announces it: tel. 1234567. */
const NAMED = new RegExp(
  '(?<![\\p{L}\\d])(?:tel(?:efono?|ephone|éfono)?|téléphone|phone|mobile?|handy|(?:tele)?fax|cell|whatsapp|fon)' +
    `(?: ?(?:numbers?|nummer|no|nr|is))?[.:#]{0,2} {0,3}(\\+?\\(?\\d${NEXT}{5,14})(?!\\d)`,
  'giu',
);

const DATES = new RegExp(
  '\\b(?:19|20)\\d\\d-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?)?' +
    '|\\b(?:0?[1-9]|[12]\\d|3[01])([./-])(?:0?[1-9]|[12]\\d|3[01])\\1(?:(?:19|20)\\d\\d|\\d\\d)(?![\\d./-])(?:,? \\d\\d?:\\d\\d)?',
  'g',
);

/** Finds numbers that are written like telephone numbers. A plain number without zero, plus or word is none. */
export function* phones(text: string): Generator<Find> {
  if (!DIGIT.test(text)) return;
  const view = blanked(blanked(text, UUID), DATES);
  for (const { found, ...find } of matches(view, ABROAD)) if (isAbroad(found)) yield find;
  yield* matches(view, INLAND);
  for (const { found, ...find } of matches(view, BRACKETED)) if (digitsIn(found) >= FEWEST_BRACKETED) yield find;
  yield* matches(view, AMERICAN);
  yield* matches(view, NAMED, 1);
}

const FEWEST_BRACKETED = 9;
const digitsIn = (found: string): number => found.replace(/\D/g, '').length;

function isAbroad(found: string): boolean {
  const digits = digitsIn(found);
  if (/^\(?00/.test(found)) return digits >= 11;
  return digits >= 10 || !/^\+\d+\.\d+$/.test(found); // +52.520008 is a degree
}
