import { isDigit, isLetterOrDigit } from './characters.js';
import { DIGIT, type Find, matchesOf } from './find.js';

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
const MOST_LENGTH = Math.max(...LENGTHS.values());
/** The group is the country. The number is only looked at, so that the search goes on within it. */
const BEGIN = /(?<![a-z\d])(?:IBAN)?(?=([a-z]{2})[ -]?\d[ -]?\d)/gi;

/** Finds account numbers with the length of their country and a correct checksum, also with spaces or hyphens. */
export function* ibans(text: string): Generator<Find> {
  if (!DIGIT.test(text)) return;
  for (const { 0: match, 1: country = '', index } of matchesOf(text, BEGIN)) {
    const length = LENGTHS.get(country.toUpperCase());
    const from = index + match.length;
    const to = length === undefined ? null : endOf(text, from, length);
    if (to !== null && remainder(text, from, to) === 1) yield { from, to };
  }
}

/** Returns the index after so many letters and digits. Returns null if there are fewer, or if one more follows. */
function endOf(text: string, from: number, length: number): number | null {
  let left = length;
  let gap = 0;
  for (let at = from; at < from + 3 * MOST_LENGTH; at++) {
    const code = text.charCodeAt(at);
    if (isLetterOrDigit(code)) {
      left--;
      gap = 0;
      if (left === 0) return isLetterOrDigit(text.charCodeAt(at + 1)) ? null : at + 1;
    } else {
      gap++;
      if (gap > 2 || !(code === 32 || code === 45 || code === 46)) return null;
    }
  }
  return null;
}

/** Returns the remainder of ISO 7064 with 97: letters count from 10, and the first four characters come last. */
function remainder(text: string, from: number, to: number): number {
  let start = from;
  for (let skipped = 0; skipped < 4; start++) if (isLetterOrDigit(text.charCodeAt(start))) skipped++;
  const added = (rest: number, code: number): number => {
    if (isDigit(code)) return (rest * 10 + code - 48) % 97;
    return isLetterOrDigit(code) ? (rest * 100 + (code | 32) - 87) % 97 : rest;
  };
  let rest = 0;
  for (let at = start; at < to; at++) rest = added(rest, text.charCodeAt(at));
  for (let at = from; at < start; at++) rest = added(rest, text.charCodeAt(at));
  return rest;
}
