import fc from 'fast-check';
import type { OpenApi, Schema } from './document.js';

/** Generates strings that PostgreSQL can store. They have no white space at the ends, because the service drops it. */
export const plain = (minLength: number, maxLength: number) =>
  fc
    .string({ unit: 'grapheme-composite', minLength, maxLength })
    .map((text) => text.replaceAll(/\0/g, '0').replaceAll(/^\s|\s$/g, 'x'));

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  // `fc.webUrl` takes more than a second to prepare.
  uri: fc.tuple(fc.domain(), plain(0, 10)).map(([domain, text]) => `https://${domain}/${encodeURIComponent(text)}`),
};

/** Keeps the generators, because they are slow to prepare, and many schemas have the same pattern. */
const matching = new Map<string, fc.Arbitrary<string>>();

function textMatching(pattern: string): fc.Arbitrary<string> {
  const texts = matching.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  matching.set(pattern, texts);
  return texts;
}

function stringOf({ pattern, format, minLength = 0, maxLength = 50 }: Schema): fc.Arbitrary<string> {
  if (format) return formats[format] as fc.Arbitrary<string>;
  if (pattern && !/\\u|\\p|\[\^/.test(pattern)) return textMatching(pattern);
  const longest = fc.constant('é'.repeat(maxLength));
  return fc.oneof(plain(minLength, Math.min(maxLength, minLength + 10)), longest);
}

function numberOf({ type, minimum, exclusiveMinimum, maximum = 1e9 }: Schema): fc.Arbitrary<number> {
  const min = minimum ?? exclusiveMinimum ?? -1e9;
  const whole = fc.integer({ min: Math.ceil(min), max: Math.min(maximum, 2 ** 31 - 1) });
  const edges = fc.constantFrom(...(exclusiveMinimum === undefined ? [min, maximum] : [maximum]));
  const any = fc.double({ min, max: maximum, minExcluded: exclusiveMinimum !== undefined, noNaN: true });
  return type === 'number' ? fc.oneof(any, whole, edges) : fc.oneof(whole, edges);
}

/** Generates any character but lone surrogates. fast-check's own `binary` takes seconds to prepare. */
const character = fc.nat(0x10ffff - 0x800).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

const anyJson = fc
  .jsonValue({ maxDepth: 3, stringUnit: character })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('\\u0000', '0')));

/** Generates values of schemas, mostly the examples of the document. `World` replaces the ids of the examples. */
export class Values {
  private readonly generators = new Map<Schema, fc.Arbitrary<unknown>>();

  constructor(private readonly api: OpenApi) {}

  valid(schema: Schema): fc.Arbitrary<unknown> {
    const known = this.generators.get(schema);
    const generator = known ?? this.like(schema).filter((value) => this.api.isValid(schema, value));
    this.generators.set(schema, generator);
    return generator;
  }

  /** Generates valid values that are changed in one place. Few of them are still valid. */
  broken(schema: Schema): fc.Arbitrary<unknown> {
    return this.valid(schema).chain((value) =>
      fc
        .constantFrom(...this.placesOf(schema, value, []))
        .chain((place) => this.hostileTo(place.schema).map((part) => replaced(value, place.path, part))),
    );
  }

  /** Parses a JSON text and returns copies. In each, one string has its maximum length, or one character more. */
  aroundLimits(schema: Schema, json: string | Uint8Array): unknown[] {
    const value: unknown = JSON.parse(String(json));
    const limited = this.placesOf(schema, value, []).filter((place) => place.schema.maxLength !== undefined);
    return limited.flatMap(({ path, schema: { maxLength = 0 } }) =>
      [maxLength, maxLength + 1].map((length) => replaced(value, path, 'x'.repeat(length))),
    );
  }

  /** Generates values next to the limits of a schema, and quite different ones. */
  hostileTo(described: Schema): fc.Arbitrary<unknown> {
    const { minimum = 0, maximum = 0, maxLength = 0, minLength = 1, maxItems = 0 } = this.api.resolve(described);
    const near = [minimum - 1, maximum + 1, minimum + 0.5, 'x'.repeat(maxLength + 1), 'x'.repeat(minLength - 1)];
    const huge = [1e308, -1e308, 2 ** 31, 2 ** 53, Array(Math.min(maxItems, 2_000) + 1).fill(null), nested(40)];
    const text = ['', ' ', '\0', 'x\0', '\ud800', '../x', '__proto__', "' OR 1=1 --"];
    const other = [undefined, null, true, [], {}, { '\0': 1 }];
    return fc.oneof(fc.constantFrom<unknown>(...near, ...huge, ...text, ...other), anyJson);
  }

  /** Generates values that fit most keywords of the schema. `valid` drops those that break another keyword. */
  private like(described: Schema): fc.Arbitrary<unknown> {
    const schema = this.api.resolve(described);
    const generated = this.generated(schema);
    const example = described.example ?? schema.example;
    return example === undefined ? generated : fc.oneof({ weight: 3, arbitrary: fc.constant(example) }, generated);
  }

  private generated(schema: Schema): fc.Arbitrary<unknown> {
    if ('const' in schema) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.oneOf && !schema.properties) return fc.oneof(...schema.oneOf.map((part) => this.like(part)));
    const { type, items = {}, minItems: minLength = 0 } = schema;
    if (typeof type === 'object')
      return type.length > 2 ? anyJson : fc.oneof(...type.map((one) => this.generated({ ...schema, type: one })));
    if (type === 'string') return stringOf(schema);
    if (type === 'integer' || type === 'number') return numberOf(schema);
    if (type === 'boolean') return fc.boolean();
    if (type === 'null') return fc.constant(null);
    if (type === 'array') return fc.array(this.like(items), { minLength, maxLength: minLength + 3 });
    return type === 'object' ? this.objectOf(schema) : anyJson;
  }

  private objectOf({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<object> {
    const parts = Object.entries(properties).map(([name, part]) => [name, this.like(part)] as const);
    const requiredKeys = required.filter((name) => name in properties);
    const known = fc.record(Object.fromEntries(parts), { requiredKeys });
    if (additionalProperties === false) return known;
    const name = plain(1, 8).map((text) => `x${text}`);
    return fc.tuple(fc.dictionary(name, anyJson, { maxKeys: 2 }), known).map(([more, own]) => ({ ...more, ...own }));
  }

  /** Lists the places to change: the value, its fields and those it could have, first items, and an unknown field. */
  private placesOf(described: Schema, value: unknown, path: readonly string[]): Place[] {
    const schema = this.api.resolve(described);
    const alternatives = (schema.oneOf ?? []).map((part) => this.api.resolve(part));
    const places: Place[] = [{ path, schema }];
    if (Array.isArray(value) && schema.items) {
      const { items } = schema;
      places.push(...value.slice(0, 3).flatMap((one, index) => this.placesOf(items, one, [...path, String(index)])));
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const properties = Object.assign({}, schema.properties, ...alternatives.map((part) => part.properties));
      for (const [name, part] of Object.entries<Schema>(properties))
        places.push(...this.placesOf(part, (value as Record<string, unknown>)[name], [...path, name]));
      places.push({ path: [...path, 'unknown'], schema: {} });
    }
    return places;
  }
}

interface Place {
  readonly path: readonly string[];
  readonly schema: Schema;
}

function replaced(value: unknown, [first, ...rest]: readonly string[], part: unknown): unknown {
  if (first === undefined) return part;
  if (Array.isArray(value)) return value.with(Number(first), replaced(value[Number(first)], rest, part));
  const object = value as Record<string, unknown>;
  return { ...object, [first]: replaced(object[first], rest, part) };
}

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
