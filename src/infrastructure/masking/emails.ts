import { isLetterOrDigit } from './characters.js';
import type { Find } from './find.js';

const MOST_LOCAL = 64;
const MOST_DOMAIN = 255;
const LOCAL_SIGNS = new Set([..."._%+'&#=~!$*?^`{|}/-"].map((sign) => sign.charCodeAt(0)));
const WORD = /[\p{L}\p{M}\p{N}]/u;
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N}-]{0,61}[\\p{L}\\p{N}])?';
const DOMAIN = new RegExp(
  `^(?:(?:${LABEL}\\.){1,9}(?:xn--[a-z0-9-]{1,59}|[\\p{L}\\p{M}]{2,63})(?![\\p{L}\\p{N}])|\\[[\\d.:a-f]{3,45}\\])`,
  'iu',
);

/** Finds addresses from their `@`. A domain needs a dot, or is an IP address in brackets. */
export function* emails(text: string): Generator<Find> {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const from = startOf(text, at);
    if (from === at) continue;
    const [domain] = DOMAIN.exec(text.slice(at + 1, at + 1 + MOST_DOMAIN)) ?? [];
    if (domain !== undefined) yield { from, to: at + 1 + domain.length };
  }
}

/** Returns the index of the first character of the name before `@`. */
function startOf(text: string, at: number): number {
  if (text[at - 1] === '"') return startOfQuoted(text, at);
  let from = at;
  while (from > 0 && at - from < 2 * MOST_LOCAL) {
    const size = localBefore(text, from);
    if (size === 0) break;
    from -= size;
  }
  while (from < at && "'/=?&.{|`*".includes(text[from] as string)) from++;
  return from;
}

/** Returns the length of the character before an index. Returns 0 if it cannot be in a name. */
function localBefore(text: string, index: number): number {
  const code = text.charCodeAt(index - 1);
  if (code < 0x80) return isLetterOrDigit(code) || LOCAL_SIGNS.has(code) ? 1 : 0;
  const size = index > 1 && code >= 0xdc00 && code <= 0xdfff ? 2 : 1; // beyond the first plane
  return WORD.test(text.slice(index - size, index)) ? size : 0;
}

function startOfQuoted(text: string, at: number): number {
  const least = Math.max(0, at - MOST_LOCAL - 2);
  for (let from = at - 2; from >= least && text[from] !== '\n'; from--)
    if (text[from] === '"') return from < at - 2 ? from : at;
  return at;
}
