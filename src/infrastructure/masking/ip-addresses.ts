import { isIPv6 } from 'node:net';
import { hexValue, isLetterOrDigit } from './characters.js';
import { type Find, matches } from './find.js';

const OCTET = '(?:25[0-5]|2[0-4]\\d|[01]?\\d?\\d)';
/** No part of a longer number or version, and no version after the letter v. */
const IPV4 = new RegExp(`(?<![\\w.])(?:${OCTET}\\.){3}${OCTET}(?!\\w|\\.\\d)`, 'g');
const LONGEST = 45;
const [COLON, DOT, UNDERSCORE] = [0x3a, 0x2e, 0x5f];
const ZONE = /%[\w-]{1,32}/y;

export function* ipAddresses(text: string): Generator<Find> {
  yield* matches(text, IPV4);
  yield* ipv6(text);
}

/** Finds addresses from their colons. An address needs a digit or three groups: `a::b` is also a name in programs. */
function* ipv6(text: string): Generator<Find> {
  let done = 0;
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', Math.max(colon + 1, done))) {
    let [from, to] = [colon, colon + 1];
    while (from > done && colon - from < LONGEST && isInIpv6(text.charCodeAt(from - 1))) from--;
    while (to < text.length && to - colon < LONGEST && isInIpv6(text.charCodeAt(to))) to++;
    done = to;
    if (text[from] === ':' && text[from + 1] !== ':') from++;
    while (text[to - 1] === '.' || (text[to - 1] === ':' && text[to - 2] !== ':')) to--;
    const address = text.slice(from, to);
    const isApart = !isWord(text.charCodeAt(from - 1)) && !isWord(text.charCodeAt(to));
    if (!isApart || address.length < 3 || !/\d|[a-f]{3}:[^:]+:/i.test(address) || !isIPv6(address)) continue;
    yield { from, to: to + lengthOfZone(text, to) };
  }
}

function lengthOfZone(text: string, at: number): number {
  if (text[at] !== '%') return 0;
  ZONE.lastIndex = at;
  return ZONE.exec(text)?.[0].length ?? 0;
}

const isInIpv6 = (code: number): boolean => hexValue(code) >= 0 || code === COLON || code === DOT;
const isWord = (code: number): boolean => isLetterOrDigit(code) || code === UNDERSCORE;
