export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Returns the same text for the same value, whatever the order of its keys. */
export const canonical = (value: Json): string => [...canonicalPieces(value)].join('');

/** The characters after which a piece ends. A long string, or a long list of strings and numbers, exceeds it. */
const PIECE = 16 * 1024;

/** Returns the canonical text in pieces, so that a caller can yield to the event loop between them. */
export function* canonicalPieces(value: Json): Generator<string> {
  // Not recursive: a generator for each of a million small objects would take most of the time.
  const open: Level[] = [];
  let text = opened(value, open);
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const { members, names, count, at } = level;
    if (at === count) {
      text += names ? '}' : ']';
      open.pop();
    } else {
      const name = names?.[at];
      const separator = at > 0 ? ',' : '';
      text += name === undefined ? separator : `${separator}${JSON.stringify(name)}:`;
      text += opened(members[name ?? at] as Json, open);
      level.at++;
    }
    if (text.length < PIECE) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** An array or object with `at` members written. */
interface Level {
  readonly members: Readonly<Record<string | number, Json>>;
  /** The sorted keys of an object; null for an array. */
  readonly names: readonly string[] | null;
  readonly count: number;
  at: number;
}

/** Returns the whole text of a small value, or opens a level and returns its first character. */
function opened(value: Json, open: Level[]): string {
  const isList = Array.isArray(value);
  if (!isContainer(value) || (isList && !value.some(isContainer))) return JSON.stringify(value);
  const names = isList ? null : Object.keys(value).sort();
  open.push({ members: value as Level['members'], names, count: names?.length ?? (value as Json[]).length, at: 0 });
  return isList ? '[' : '{';
}

/** Tells whether two values have the same canonical text, without making the texts. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (!isContainer(one) || !isContainer(other)) return false;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((member, at) => isSame(member, other[at]));
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

/** Returns why a value cannot be stored, from its first such string or number; null if it can. */
export function unstorable(value: Json): string | null {
  if (!isContainer(value)) return unstorableLeaf(value);
  if (Array.isArray(value)) return first(value, unstorable);
  return first(Object.keys(value), (name) => unstorableLeaf(name) ?? unstorable((value as JsonObject)[name] as Json));
}

/** Returns why a string or number cannot be stored: PostgreSQL refuses NUL and lone surrogates, and a double has a range. */
export function unstorableLeaf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a number that fits a double';
  if (typeof value !== 'string') return null;
  if (value.includes('\0')) return 'must not contain the NUL character';
  return value.isWellFormed() ? null : 'must not contain half of a surrogate pair';
}

function first<T>(members: readonly T[], wrong: (member: T) => string | null): string | null {
  for (const member of members) {
    const found = wrong(member);
    if (found) return found;
  }
  return null;
}

const isContainer = (value: Json | undefined): value is readonly Json[] | JsonObject =>
  typeof value === 'object' && value !== null;

export const isObject = (value: Json | undefined): value is JsonObject => isContainer(value) && !Array.isArray(value);
