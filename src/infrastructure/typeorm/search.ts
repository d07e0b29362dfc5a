/**
 * Returns a regular expression of PostgreSQL that matches texts with `part` in them, in upper or lower case. It names both
 * cases of each letter, because with the locale C PostgreSQL knows only the cases of ASCII.
 */
export const containing = (part: string): string => [...part].map(eitherCase).join('');

const eitherCase = (letter: string): string => {
  const cases = [letter, letter.toLowerCase(), letter.toUpperCase()].filter((one) => [...one].length === 1);
  return `[${[...new Set(cases)].map(literal).join('')}]`;
};

/** Escapes what has a meaning between brackets. A single `^` would negate them. */
const literal = (letter: string): string => (/[\w\s]/.test(letter) || letter > '~' ? letter : `\\${letter}`);
