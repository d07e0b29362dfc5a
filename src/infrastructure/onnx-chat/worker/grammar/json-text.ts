import { characters, choice, type Expression, optional, type Range, sequence, text } from './expression.js';

/** Characters that need no escape in a string. Excludes control characters, surrogates, and U+FFFD (broken text). */
const PLAIN: Range[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x7e],
  [0xa0, 0xd7ff],
  [0xe000, 0xfffc],
  [0x10000, 0x10ffff],
];
const ESCAPED = '"\\\b\f\n\r\t';

/** Returns one character of these ranges as it stands in a JSON string. */
export function writtenCharacters(ranges: readonly Range[]): Expression {
  const within = (code: number) => ranges.some(([first, last]) => first <= code && code <= last);
  const plain = PLAIN.flatMap(([first, last]) =>
    ranges.map(([from, to]): Range => [Math.max(first, from), Math.min(last, to)]).filter(([from, to]) => from <= to),
  );
  const escaped = [...ESCAPED].filter((character) => within(character.charCodeAt(0)));
  return choice(
    ...(plain.length > 0 ? [characters(...plain)] : []),
    ...escaped.map((character) => text(JSON.stringify(character).slice(1, -1))),
  );
}

/** At most one space is allowed. Otherwise an answer could contain white space without end. */
export const COMMA = sequence(text(','), optional(text(' ')));
export const COLON = sequence(text(':'), optional(text(' ')));

/** The parts from the one with the number `separated` on begin with a comma of their own. */
export function list(open: string, parts: readonly Expression[], close: string, separated = parts.length): Expression {
  const all = parts.flatMap((part, i) => (i === 0 || i >= separated ? [part] : [COMMA, part]));
  return sequence(text(open), ...all, text(close));
}
