import type { Find } from './find.js';

const MOST_DIGITS = 19;
/** The numbers of digits in the groups of a printed card number. */
const LAYOUTS = /^(1[4-9]|4,4,4,4(,[1-3])?|4,6,[45])$/;
const FIRST_LENGTHS: readonly number[] = [4, 14, 15, 16, 17, 18, 19];
const BRANDS: readonly RegExp[] = [
  /^4(\d{15}|\d{18})$/, // Visa
  /^(5[1-5]\d{14}|2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12})$/, // Mastercard
  /^3[47]\d{13}$/, // American Express
  /^3(0[0-59]|[689]\d)\d{11,16}$/, // Diners Club
  /^35(2[89]|[3-8]\d)\d{12,15}$/, // JCB
  /^6(011|4[4-9]\d|5\d\d|2\d\d)\d{12,15}$/, // Discover, UnionPay
  /^(50\d\d|5[6-8]\d\d|6\d{3})\d{12,15}$/, // Maestro
  /^220[0-4]\d{12,15}$/, // Mir
];

/** Finds card numbers with a correct check digit, in one piece or in the groups that cards show. */
export function* cards(text: string): Generator<Find> {
  const groups = [...text.matchAll(/\d+/g)].map(({ 0: digits, index }) => ({ digits, from: index }));
  for (const [first, { from }] of groups.entries()) {
    if (!FIRST_LENGTHS.includes((groups[first] as (typeof groups)[number]).digits.length)) continue;
    let digits = '';
    let layout = '';
    let separator: string | null = null;
    for (let at = first; at < groups.length; at++) {
      const group = groups[at] as (typeof groups)[number];
      if (at > first) {
        const gap = text.slice(from + digits.length + (separator?.length ?? 0) * (at - first - 1), group.from);
        if (!/^(?:[ .]| ?- ?)$/.test(gap) || (separator !== null && separator !== gap)) break;
        separator = gap;
      }
      digits += group.digits;
      layout += `${at > first ? ',' : ''}${group.digits.length}`;
      if (digits.length > MOST_DIGITS) break;
      const to = group.from + group.digits.length;
      if (LAYOUTS.test(layout) && isCard(digits) && isApart(text, from, to)) yield { from, to };
    }
  }
}

const isCard = (digits: string): boolean => BRANDS.some((brand) => brand.test(digits)) && hasCheckDigit(digits);

/** Checks the formula of Luhn. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]) * (at % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** Tells whether digits are no part of a decimal number or of a long hexadecimal one. */
function isApart(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - 64), from);
  const after = text.slice(to, to + 64);
  if (/\d\.$/.test(before) || /^\.\d/.test(after)) return false;
  const word = `${/[\da-z]*$/i.exec(before)?.[0]}${text.slice(from, to)}${/^[\da-z]*/i.exec(after)?.[0]}`;
  return !(/[a-f]/i.test(word) && /^[\da-f]{24,}$/i.test(word));
}

/** The length of an IBAN in each country. */
const LENGTHS = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
/** The group is everything that may belong to the number. It is only looked at, so that the search goes on within it. */
const IBAN = /(?<![a-z\d])(?:IBAN)?(?=([a-z]{2}[ -]?\d[ -]?\d(?:[ .-]{0,2}[a-z\d]){11,30}))/gi;

/** Finds account numbers with the length of their country and a correct checksum, also with spaces or hyphens. */
export function* ibans(text: string): Generator<Find> {
  for (const { 0: match, 1: candidate = '', index } of text.matchAll(IBAN)) {
    const length = LENGTHS.get(candidate.slice(0, 2).toUpperCase());
    const iban = candidate.replace(/[ .-]/g, '').slice(0, length).toUpperCase();
    if (iban.length !== length || remainder(iban) !== 1) continue;
    const from = index + match.length;
    let to = from;
    for (let left = length; left > 0; to++) if (/[a-z\d]/i.test(text[to] as string)) left--;
    if (!/[a-z\d]/i.test(text[to] ?? '')) yield { from, to };
  }
}

/** Returns the remainder of ISO 7064 with 97: letters count from 10, and the first four characters come last. */
function remainder(iban: string): number {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4))
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  return rest;
}
