/** An exact amount of money in billionths of the currency. Never a floating-point number. */
export type Nanos = bigint;

const PLACES = 9;
const ONE = 10n ** BigInt(PLACES);

/** Reads decimal text with at most nine places, such as `12.5`. Returns null for other text. */
export function nanosOf(text: string): Nanos | null {
  const [, sign, whole = '', part = ''] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (whole === '') return null;
  const nanos = BigInt(whole) * ONE + BigInt(part.padEnd(PLACES, '0'));
  return sign === '-' ? -nanos : nanos;
}

/** Reads the shortest decimal text of a number, also one like `1e-7`. Returns null if it has more than nine places. */
export function nanosOfNumber(value: number): Nanos | null {
  const [, digits = '', exponent] = /^(.*?)(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  if (exponent === undefined) return nanosOf(digits);
  const [whole = '', part = ''] = digits.split('.');
  const places = part.length - Number(exponent);
  if (places < 0) return nanosOf(whole + part + '0'.repeat(-places));
  const padded = (whole + part).padStart(places + 1, '0');
  return nanosOf(`${padded.slice(0, -places)}.${padded.slice(-places)}`);
}

/** Returns the amount as text with nine decimal places. */
export function costText(nanos: Nanos): string {
  const size = nanos < 0n ? -nanos : nanos;
  return `${nanos < 0n ? '-' : ''}${size / ONE}.${String(size % ONE).padStart(PLACES, '0')}`;
}

/** The cost of a call that costs nothing though it has a price. */
export const FREE = costText(0n);

/** Reads text of `costText`. */
export const nanosOfCost = (text: string): Nanos => nanosOf(text) ?? 0n;
