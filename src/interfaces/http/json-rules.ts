import type { Finding } from '../../domain/shared/errors.js';

const DEPTH = 32;

/** Says so where JSON text is nested deeper than the limit; told from the text, before anything is built from it. */
export function nestedTooDeep(text: string): string | null {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === BACKSLASH) at++;
      else if (character === QUOTE) inString = false;
    } else if (character === QUOTE) inString = true;
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (++depth > DEPTH) return `must not be nested deeper than ${DEPTH} levels`;
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--;
  }
  return null;
}

const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [...'"\\{}[]'].map((character) =>
  character.charCodeAt(0),
);

/** The first string or number in a JSON value that PostgreSQL cannot store, or that no double holds. */
export function firstUnstorable(value: unknown, path = ''): Finding | null {
  if (typeof value === 'string') return unstorableText(value, path);
  if (typeof value === 'number') {
    return Number.isFinite(value) ? null : { path, message: 'must be a number that fits a double' };
  }
  if (value === null || typeof value !== 'object') return null;
  for (const [key, member] of Object.entries(value)) {
    const below = path === '' ? key : `${path}.${key}`;
    const found = unstorableText(key, path) ?? firstUnstorable(member, below);
    if (found) return found;
  }
  return null;
}

function unstorableText(text: string, path: string): Finding | null {
  if (text.includes('\0')) return { path, message: 'must not contain the NUL character' };
  return text.isWellFormed() ? null : { path, message: 'must not contain half of a surrogate pair' };
}
