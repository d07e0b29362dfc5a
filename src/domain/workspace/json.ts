export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The same text for the same value, whatever the order of its keys. */
export const canonical = (value: Json): string => [...canonicalPieces(value)].join('');

/** About as many characters as a piece has at most, apart from a single long string. */
const PIECE = 16 * 1024;

/** The canonical text in pieces, for values so large that there has to be other work in between. */
export function* canonicalPieces(value: Json, before = ''): Generator<string> {
  if (!isContainer(value)) {
    yield before + JSON.stringify(value);
    return;
  }
  const isList = Array.isArray(value);
  const members = value as Readonly<Record<string | number, Json>>;
  let text = before + (isList ? '[' : '{');
  let separator = '';
  for (const key of isList ? value.keys() : Object.keys(members).sort()) {
    text += isList ? separator : `${separator}${JSON.stringify(key)}:`;
    const member = members[key] as Json;
    if (isContainer(member)) {
      yield* canonicalPieces(member, text);
      text = '';
    } else text += JSON.stringify(member);
    if (text.length >= PIECE) {
      yield text;
      text = '';
    }
    separator = ',';
  }
  yield text + (isList ? ']' : '}');
}

const isContainer = (value: Json): boolean => typeof value === 'object' && value !== null;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
