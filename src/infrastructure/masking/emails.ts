import type { Find } from './find.js';

const MOST_LOCAL = 64;
const MOST_DOMAIN = 255;
const LOCAL = /[\p{L}\p{M}\p{N}._%+'&#=~!$*?^`{|}/-]/u;
const QUOTED = /"[^"\n]{1,64}"$/;
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N}-]{0,61}[\\p{L}\\p{N}])?';
const DOMAIN = new RegExp(
  `(?:(?:${LABEL}\\.){1,9}(?:xn--[a-z0-9-]{1,59}|[\\p{L}\\p{M}]{2,63})(?![\\p{L}\\p{N}])|\\[[\\d.:a-f]{3,45}\\])`,
  'iuy',
);

/** Finds addresses from their `@`. A domain needs a dot, or is an IP address in brackets. */
export function* emails(text: string): Generator<Find> {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const from = startOf(text, at);
    if (from === at) continue;
    DOMAIN.lastIndex = at + 1;
    const [domain] = DOMAIN.exec(text.slice(0, at + 1 + MOST_DOMAIN)) ?? [];
    if (domain !== undefined) yield { from, to: at + 1 + domain.length };
  }
}

function startOf(text: string, at: number): number {
  if (text[at - 1] === '"')
    return at - (QUOTED.exec(text.slice(Math.max(0, at - MOST_LOCAL - 2), at))?.[0].length ?? 0);
  let from = at;
  while (from > 0 && at - from < 2 * MOST_LOCAL) {
    // A character beyond the first plane has two units.
    const size = from > 1 && /[\udc00-\udfff]/.test(text[from - 1] as string) ? 2 : 1;
    if (!LOCAL.test(text.slice(from - size, from))) break;
    from -= size;
  }
  while (from < at && /['/=?&.{|`*]/.test(text[from] as string)) from++;
  return from;
}
