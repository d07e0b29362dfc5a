import { unstorableLeaf } from '../shared/text.js';

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Returns JSON with sorted keys. Equal values give equal texts. */
export function canonical(value: Json): string {
  if (!isContainer(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value as JsonObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

/** Tells whether two values are equal. The order of keys does not count. */
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

/** Returns the problem of the first string or number that PostgreSQL cannot store. Returns null if there is none. */
export function unstorable(value: Json): string | null {
  if (!isContainer(value)) return unstorableLeaf(value);
  for (const [name, member] of Object.entries(value)) {
    const found = unstorableLeaf(name) ?? unstorable(member);
    if (found) return found;
  }
  return null;
}

const isContainer = (value: Json | undefined): value is readonly Json[] | JsonObject =>
  typeof value === 'object' && value !== null;

export const isObject = (value: Json | undefined): value is JsonObject => isContainer(value) && !Array.isArray(value);
