import { isIPv6 } from 'node:net';
import { type Find, matches } from './find.js';

const OCTET = '(?:25[0-5]|2[0-4]\\d|[01]?\\d?\\d)';
/** No part of a longer number or version, and no version after the letter v. */
const IPV4 = new RegExp(`(?<![\\w.])(?:${OCTET}\\.){3}${OCTET}(?!\\w|\\.\\d)`, 'g');
const LONGEST = 45;
const IN_IPV6 = /[\da-fA-F:.]/;
const ZONE = /%[\w-]{1,32}/y;

export function* ipAddresses(text: string): Generator<Find> {
  yield* matches(text, IPV4);
  yield* ipv6(text);
}

/** Finds addresses from their colons. An address needs a digit: `a::b` is also a name in programs. */
function* ipv6(text: string): Generator<Find> {
  let done = 0;
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', Math.max(colon + 1, done))) {
    let [from, to] = [colon, colon + 1];
    while (from > done && colon - from < LONGEST && IN_IPV6.test(text[from - 1] as string)) from--;
    while (to < text.length && to - colon < LONGEST && IN_IPV6.test(text[to] as string)) to++;
    done = to;
    if (text[from] === ':' && text[from + 1] !== ':') from++;
    while (text[to - 1] === '.' || (text[to - 1] === ':' && text[to - 2] !== ':')) to--;
    const address = text.slice(from, to);
    const isApart = !/\w/.test(text[from - 1] ?? '') && !/\w/.test(text[to] ?? '');
    if (!isApart || !/\d/.test(address) || !isIPv6(address)) continue;
    ZONE.lastIndex = to;
    yield { from, to: to + (ZONE.exec(text)?.[0].length ?? 0) };
  }
}
