import { characters, choice, type Expression, type Range, text } from './expression.js';

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
