/** Reads JSON schemas for grammars: checks keywords, follows references, and combines schemas into one. */
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../../../domain/workspace/json.js';
import { regExpOf } from '../../../json-schema/pattern.js';

/** The message names the keyword at fault. `path` is the place of its schema in the request. */
export class UnsupportedSchema extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

/** The keywords of each type. If a schema names no type, the types of its keywords are used. */
const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'propertyNames', 'minProperties', 'maxProperties'],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};
const GENERAL = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref'];
const SUPPORTED = new Set([...GENERAL, ...Object.values(BY_TYPE).flat()]);
/** These keywords do not change which values are valid. */
const ANNOTATIONS = new Set(
  (
    '$schema $id $comment $defs definitions title description default examples example deprecated readOnly writeOnly ' +
    'contentEncoding contentMediaType contentSchema discriminator'
  ).split(' '),
);
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/**
 * The keywords of a schema, without annotations. Other keywords replace `$ref`, `const` and older tuples. `allOf` is left
 * only for a further `pattern` or `format`.
 */
export type Keywords = { readonly [keyword: string]: Json };

/** The most schemas that are read. A schema that is read again counts again. More would take too long. */
const MAX_READ = 200_000;
/** The most pairs of branches of two `anyOf` or two `oneOf` in one place. */
const MAX_PAIRS = 1_000;

export class Schemas {
  private readonly known = new Map<Json, Keywords>();
  private read = 0;

  constructor(private readonly root: Json) {}

  /** Returns the keywords of a schema, with those of the schemas that it refers to. Throws UnsupportedSchema. */
  keywordsOf(schema: Json, path: string, followed: readonly string[] = []): Keywords {
    this.read += 1;
    if (this.read > MAX_READ)
      throw new UnsupportedSchema(path, 'oneOf, allOf or $ref combine too many schemas: use fewer branches and parts');
    if (schema === true) return {};
    if (schema === false) return { enum: [] };
    const known = this.known.get(schema) ?? this.find(schema, path, followed);
    this.known.set(schema, known);
    return known;
  }

  private find(schema: Json, path: string, followed: readonly string[]): Keywords {
    const own = checked(schema, path);
    let all = normalized(own);
    if (typeof own.$ref === 'string') {
      if (followed.includes(own.$ref)) throw new UnsupportedSchema(path, '$ref refers to itself');
      const target = this.target(own.$ref, path);
      all = this.both(all, this.keywordsOf(target, path, [...followed, own.$ref]), path);
    }
    for (const [i, part] of ((own.allOf ?? []) as Json[]).entries())
      all = this.both(all, this.keywordsOf(part, `${path}.allOf[${i}]`, followed), path);
    return all;
  }

  /** Returns true if certainly no value is valid by both schemas. Compares a few levels of required properties. */
  areDisjoint(one: Json, other: Json, path: string, levels = 3): boolean {
    const [a, b] = [this.keywordsOf(one, path), this.keywordsOf(other, path)];
    const values = [a, b].map((all) => all.enum as Json[] | undefined);
    const [first, second] = values;
    if (first && second) return !first.some((value) => second.some((same) => isDeepStrictEqual(value, same)));
    const possible = (all: Keywords) =>
      (all.enum as Json[] | undefined)?.map(typeOf) ?? (all.type === undefined ? TYPES : [all.type].flat().map(String));
    const overlap = possible(a).filter((type) =>
      possible(b).some((same) => isWithin(type, same) || isWithin(same, type)),
    );
    if (overlap.length === 0) return true;
    if (levels === 0 || overlap.some((type) => type !== 'object')) return false;
    const required = (all: Keywords) => (all.required ?? []) as string[];
    const property = (all: Keywords, name: string) => (all.properties as JsonObject | undefined)?.[name] ?? true;
    return required(a)
      .filter((name) => required(b).includes(name))
      .some((name) => this.areDisjoint(property(a, name), property(b, name), path, levels - 1));
  }

  private target(ref: string, path: string): Json {
    const missing = new UnsupportedSchema(path, `$ref refers to ${ref}, which is not in the schema`);
    if (!/^#(\/|$)/.test(ref) || /%(?![0-9a-f]{2})/i.test(ref)) throw missing;
    let found: Json | undefined = this.root;
    for (const step of ref.split('/').slice(1)) {
      const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
      const inside: object | null = typeof found === 'object' ? (found as object | null) : null;
      found = inside && Object.hasOwn(inside, name) ? (inside as Record<string, Json>)[name] : undefined;
    }
    if (found === undefined) throw missing;
    return found;
  }

  /** Returns keywords for the values that both `a` and `b` allow. */
  private both(a: Keywords, b: Keywords, path: string): Keywords {
    const all: Record<string, Json> = { ...a, ...b };
    const further = [a, b].flatMap((one) => (one.allOf ?? []) as Json[]);
    for (const keyword of Object.keys(a).filter((one) => one in b && one !== 'allOf'))
      if (keyword !== 'pattern' && keyword !== 'format')
        all[keyword] = conjunction(keyword, a[keyword] as Json, b[keyword] as Json, path);
      else if (a[keyword] !== b[keyword]) further.push({ [keyword]: a[keyword] as Json });
    if (further.length > 0) all.allOf = further;
    if (a.items !== undefined || b.items !== undefined || a.prefixItems !== undefined || b.prefixItems !== undefined) {
      const other = [a, b].find(({ prefixItems }) => prefixItems !== undefined);
      if (other && [a, b].some((one) => one !== other && one.items !== undefined))
        throw new UnsupportedSchema(path, 'prefixItems beside the items of another schema is not supported');
    }
    const names = [a, b].flatMap(({ properties }) => Object.keys((properties ?? {}) as JsonObject));
    if (names.length === 0) return all;
    const schemaOf = ({ properties, additionalProperties = true }: Keywords, name: string): Json => {
      const own = (properties ?? {}) as JsonObject;
      return Object.hasOwn(own, name) ? (own[name] as Json) : additionalProperties;
    };
    all.properties = Object.fromEntries(names.map((name) => [name, allOf(schemaOf(a, name), schemaOf(b, name))]));
    return all;
  }
}

/** Returns a schema for the values that are valid by both schemas. */
export function allOf(a: Json, b: Json): Json {
  const parts: Json[] = [];
  for (const part of [a, b].flatMap((one) => (isConjunction(one) ? one.allOf : one)))
    if (part !== true && !parts.some((other) => isDeepStrictEqual(other, part))) parts.push(part);
  return parts.length > 1 ? { allOf: parts } : (parts[0] ?? true);
}

function isConjunction(schema: Json): schema is { allOf: Json[] } {
  return isObject(schema) && isDeepStrictEqual(Object.keys(schema as JsonObject), ['allOf']);
}

function conjunction(keyword: string, a: Json, b: Json, path: string): Json {
  if (isDeepStrictEqual(a, b)) return a;
  switch (keyword) {
    case 'minimum':
    case 'exclusiveMinimum':
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return Math.max(a as number, b as number);
    case 'maximum':
    case 'exclusiveMaximum':
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return Math.min(a as number, b as number);
    case 'required':
      return [...new Set([...(a as string[]), ...(b as string[])])];
    case 'enum':
      return (a as Json[]).filter((value) => (b as Json[]).some((same) => isDeepStrictEqual(value, same)));
    case 'type':
      return [
        ...[a].flat().filter((type) => [b].flat().some((wide) => isWithin(String(type), String(wide)))),
        ...[b]
          .flat()
          .filter((type) => [a].flat().some((wide) => type !== wide && isWithin(String(type), String(wide)))),
      ] as Json;
    case 'anyOf':
    case 'oneOf':
      if ((a as Json[]).length * (b as Json[]).length > MAX_PAIRS)
        throw new UnsupportedSchema(
          path,
          `${keyword} twice in one place makes more than ${MAX_PAIRS} pairs of schemas`,
        );
      return (a as Json[]).flatMap((one) => (b as Json[]).map((other) => allOf(one, other)));
    case 'properties':
      return a;
    case 'items':
    case 'additionalProperties':
    case 'propertyNames':
      return allOf(a, b);
    default:
      throw new UnsupportedSchema(path, `${keyword} twice in one place is not supported`);
  }
}

export const isWithin = (type: string, wide: string): boolean =>
  type === wide || (type === 'integer' && wide === 'number');

export function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Returns the types of the values that the grammar matches. */
export function typesOf(keywords: Keywords): string[] {
  if (keywords.type !== undefined) return [keywords.type].flat().map(String);
  const implied = Object.entries(BY_TYPE).filter(([, names]) => names.some((name) => name in keywords));
  return implied.length > 0 ? implied.map(([type]) => type) : TYPES.filter((type) => type !== 'integer');
}

const isSchema = (value: Json): boolean => typeof value === 'boolean' || isObject(value);
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: Json, is: (one: Json) => boolean): boolean => Array.isArray(value) && value.every(is);
const isCount = (value: Json): boolean => Number.isInteger(value) && (value as number) >= 0;
const isText = (value: Json): boolean => typeof value === 'string';
const isFilled = (value: Json): boolean => !Array.isArray(value) || value.length > 0;

function isPattern(value: Json): boolean {
  try {
    return isText(value) && Boolean(regExpOf(value as string));
  } catch {
    return false;
  }
}

/** The checks of the values of keywords. The values of other keywords must be numbers. */
const FORMS: Readonly<Record<string, readonly [is: (value: Json) => boolean, wanted: string]>> = {
  type: [
    (value) => [value].flat().every((one) => TYPES.includes(String(one))) && isFilled(value),
    `one of ${TYPES.join(', ')}, or several`,
  ],
  enum: [(value) => isList(value, () => true), 'an array'],
  const: [() => true, ''],
  $ref: [isText, 'a string'],
  pattern: [isPattern, 'a regular expression'],
  format: [isText, 'a string'],
  // Validators ignore a property with the name `__proto__`.
  required: [
    (value) => isList(value, (name) => isText(name) && name !== '__proto__'),
    'an array of strings, not __proto__',
  ],
  properties: [
    (value) =>
      isObject(value) &&
      !Object.hasOwn(value as JsonObject, '__proto__') &&
      Object.values(value as JsonObject).every(isSchema),
    'an object of schemas, without one for __proto__',
  ],
  items: [(value) => isSchema(value) || isList(value, isSchema), 'a schema'],
  ...named(['additionalProperties', 'additionalItems', 'propertyNames'], [isSchema, 'a schema']),
  ...named(['anyOf', 'oneOf', 'allOf'], [(value) => isList(value, isSchema) && isFilled(value), 'an array of schemas']),
  prefixItems: [(value) => isList(value, isSchema), 'an array of schemas'],
  ...named(
    ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
    [isCount, 'an integer of at least 0'],
  ),
};

function named<T>(names: readonly string[], value: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

function checked(schema: Json, path: string): JsonObject {
  if (!isObject(schema)) throw new UnsupportedSchema(path, 'must be a schema: an object or a boolean');
  for (const [keyword, value] of Object.entries(schema as JsonObject)) {
    if (ANNOTATIONS.has(keyword) || keyword.startsWith('x-') || isWithoutEffect(keyword, value)) continue;
    if (!SUPPORTED.has(keyword)) throw new UnsupportedSchema(path, `${keyword} is not supported`);
    const [is, wanted] = FORMS[keyword] ?? [(one: Json) => typeof one === 'number', 'a number'];
    if (!is(value)) throw new UnsupportedSchema(path, `${keyword} must be ${wanted}`);
  }
  return schema as JsonObject;
}

const isWithoutEffect = (keyword: string, value: Json): boolean => keyword === 'uniqueItems' && value === false;

function normalized({ $ref: _, allOf: __, const: value, ...schema }: JsonObject): Keywords {
  const all: Record<string, Json> = {};
  for (const [keyword, one] of Object.entries(schema)) if (SUPPORTED.has(keyword)) all[keyword] = one as Json;
  if (value !== undefined)
    all.enum = ((all.enum as Json[] | undefined) ?? [value]).filter((one) => isDeepStrictEqual(one, value));
  const { additionalItems, items } = all;
  delete all.additionalItems;
  if (!Array.isArray(items)) return all;
  all.prefixItems = items;
  delete all.items;
  if (additionalItems !== undefined) all.items = additionalItems;
  return all;
}

export const isAnyName = (schema: Json): boolean => schema === true || JSON.stringify(schema) === '{"type":"string"}';

/** Returns the last keyword of a path. Names and numbers after it do not count. */
export const lastKeyword = (path: string): string => /.*\.(\w+)(?:\[\d+\]|\.[^.]*)?$/s.exec(path)?.[1] ?? 'it';
