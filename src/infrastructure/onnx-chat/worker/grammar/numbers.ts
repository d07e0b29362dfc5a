/** Expressions for numbers between two bounds, in decimal digits. */
import { characters, choice, type Expression, NOTHING, optional, repeat, sequence, text } from './expression.js';

/** Two different decimals with this many digits are different numbers, so rounding never crosses a bound. */
const DIGITS = 15;
/** Digits before the point, unless a bound has more. */
const WHOLE_DIGITS = 9;

export interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

const DIGIT = characters([48, 57]);
const NON_ZERO = characters([49, 57]);

/**
 * Returns the numbers within the bounds, or NOTHING. Bounded integers go up to 2^53 - 1. Other bounded numbers have at
 * most 15 digits. Without bounds, a number has at most 15 digits before the point and 15 after it.
 */
export function numbers(bounds: Bounds, integer: boolean): Expression {
  const all = Object.values(bounds);
  if (all.length === 0) return integer ? ANY_INTEGER : ANY_NUMBER;
  const whole = Math.max(WHOLE_DIGITS, ...all.map((bound) => decimalOf(bound).whole.length));
  const places = integer ? 0 : Math.max(0, DIGITS - whole);
  const most = integer ? BigInt(Number.MAX_SAFE_INTEGER) : 10n ** BigInt(DIGITS) - 1n;
  const least = [
    -most,
    ...ofBound(bounds.minimum, (bound) => -floor(-bound, places)),
    ...ofBound(bounds.exclusiveMinimum, (bound) => floor(bound, places) + 1n),
  ].reduce((a, b) => (a > b ? a : b));
  const highest = [
    most,
    ...ofBound(bounds.maximum, (bound) => floor(bound, places)),
    ...ofBound(bounds.exclusiveMaximum, (bound) => -floor(-bound, places) - 1n),
  ].reduce((a, b) => (a < b ? a : b));
  return between(least, highest, places);
}

const ofBound = (bound: number | undefined, take: (bound: number) => bigint): bigint[] =>
  bound === undefined ? [] : [take(bound)];

const ANY_INTEGER = sequence(optional(text('-')), choice(text('0'), sequence(NON_ZERO, repeat(DIGIT, 0, DIGITS - 1))));
const ANY_NUMBER = sequence(ANY_INTEGER, optional(sequence(text('.'), repeat(DIGIT, 1, DIGITS))));

/** Returns the digits before and after the decimal point of a number. */
function decimalOf(value: number): { whole: string; fraction: string } {
  const [digits = '', exponent = '0'] = Math.abs(value).toString().split('e');
  const [before = '', behind = ''] = digits.split('.');
  const by = Number(exponent);
  const all = '0'.repeat(Math.max(0, -by)) + before + behind + '0'.repeat(Math.max(0, by));
  const point = Math.max(0, -by) + before.length + by;
  return { whole: all.slice(0, point).replace(/^0+(?=.)/, ''), fraction: all.slice(point).replace(/0+$/, '') };
}

/** Rounds `value` down to units of 10^-places, and returns the number of these units. */
function floor(value: number, places: number): bigint {
  const { whole, fraction } = decimalOf(value);
  const cut = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'));
  if (value >= 0) return cut;
  return fraction.length > places ? -cut - 1n : -cut;
}

/** Returns the numbers from `least` to `highest`. Both bounds are in units of 10^-places. */
function between(least: bigint, highest: bigint, places: number): Expression {
  if (least > highest) return NOTHING;
  if (least < 0n && highest >= 0n)
    return choice(sequence(text('-'), positive(1n, -least, places)), positive(0n, highest, places));
  return highest < 0n ? sequence(text('-'), positive(-highest, -least, places)) : positive(least, highest, places);
}

function positive(least: bigint, highest: bigint, places: number): Expression {
  const unit = 10n ** BigInt(places);
  const [low, high] = [least / unit, highest / unit];
  const digitsOf = (value: bigint) => (places === 0 ? '' : (value % unit).toString().padStart(places, '0'));
  const withFraction = (whole: Expression, from: string, to: string | null) =>
    sequence(whole, fraction(from, to, places));
  if (low === high) return withFraction(text(low.toString()), digitsOf(least), digitsOf(highest));
  return choice(
    withFraction(text(low.toString()), digitsOf(least), null),
    withFraction(wholes(low + 1n, high - 1n), '', null),
    withFraction(text(high.toString()), '', digitsOf(highest)),
  );
}

/** Returns the integers of a range that is not negative. */
function wholes(least: bigint, highest: bigint): Expression {
  const parts: Expression[] = [];
  for (let from = least; from <= highest; ) {
    const length = from.toString().length;
    const last = 10n ** BigInt(length) - 1n;
    const to = last < highest ? last : highest;
    parts.push(digits(from.toString(), to.toString(), length, false));
    from = to + 1n;
  }
  return choice(...parts);
}

/** Returns a point and the digits from `from` to `to` (null: no bound). If `from` is 0, the fraction is optional. */
function fraction(from: string, to: string | null, places: number): Expression {
  if (places === 0) return text('');
  const behind = sequence(text('.'), digits(from, to, places, true));
  return /^0*$/.test(from) ? optional(behind) : behind;
}

/**
 * Returns the strings of `length` digits from `from` to `to`. If `shorter`, they are digits after a point, and zeros at
 * the end are optional: from 25 to 40 includes 3 and 4, because 0.3 and 0.4 are in the range. A missing digit of a
 * bound is 0.
 */
function digits(from: string, to: string | null, length: number, shorter: boolean): Expression {
  if (/^0*$/.test(from) && (to === null || (to.length === length && /^9*$/.test(to))))
    return shorter ? repeat(DIGIT, 1, length) : sequence(...Array<Expression>(length).fill(DIGIT));
  const parts: Expression[] = [];
  const [low, high] = [Number(from[0] ?? 0), to === null ? 9 : Number(to[0] ?? 0)];
  const part = (first: number, last: number, restFrom: string, restTo: string | null) => {
    if (first > last) return;
    const rest = length === 1 ? text('') : digits(restFrom, restTo, length - 1, shorter);
    const mayEnd = shorter && length > 1 && /^0*$/.test(restFrom);
    parts.push(sequence(characters([48 + first, 48 + last]), mayEnd ? optional(rest) : rest));
  };
  const below = to === null ? null : to.slice(1);
  if (low === high) part(low, low, from.slice(1), below);
  else {
    part(low, low, from.slice(1), shorter ? null : '9'.repeat(length - 1));
    part(low + 1, high - 1, '', shorter ? null : '9'.repeat(length - 1));
    part(high, high, '', below);
  }
  return choice(...parts);
}
