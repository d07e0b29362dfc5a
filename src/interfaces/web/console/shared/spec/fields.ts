import { type JsonSource, writeJson } from '../json-source.js';

type Fields = Readonly<Record<string, unknown>>;

/** Returns whether a value is a JSON object, as every spec is. */
export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns an object with the type of a spec to send. No JSON object fits the generated type. */
export const asSpec = (spec: object) => spec as Record<string, never>;

/** Returns the spec in a text, or null if the text has none. */
export const specOf = ({ value }: Pick<JsonSource, 'value'>): Fields | null => (isObject(value) ? value : null);

/** Returns a field by its path. The parts of the path are joined by dots. */
export const fieldOf = (spec: Fields, path: string): unknown =>
  path.split('.').reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), spec);

/** Returns the text of a spec with another value of a field. The value '' removes the field and emptied objects. */
export const withField = (spec: Fields, path: string, value: unknown): string =>
  writeJson(changed(spec, path.split('.'), value));

function changed(at: unknown, [part = '', ...rest]: readonly string[], value: unknown): Fields {
  const inner = isObject(at) ? { ...at } : {};
  const next = rest.length > 0 ? changed(inner[part], rest, value) : value;
  if (next === '' || (rest.length > 0 && isObject(next) && Object.keys(next).length === 0)) delete inner[part];
  else inner[part] = next;
  return inner;
}
