import { endOfString } from './json-nesting.js';

const NUMBER = /-?\d[\d.eE+-]*/y;

/** Returns the first number in JSON text whose value a double would change, or null. `text` must be valid JSON. */
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

/** Fifteen digits always fit. A number beyond the range of a double counts as exact: another rule refuses it. */
function isExact(number: string): boolean {
  if (/^-?\d{1,15}$/.test(number)) return true;
  const double = Number(number);
  return !Number.isFinite(double) || decimal(number) === decimal(String(double));
}

/** Returns the same text for the same decimal value: the digits without zeros around them, and the exponent. */
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
