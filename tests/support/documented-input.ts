import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';

/** Describes the part of JSON Schema that inputs use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

interface Operation {
  readonly parameters?: readonly { in: string; name: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const document = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as Document;

export const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const body = operation.requestBody?.content['application/json']?.schema;
    return { method: method.toUpperCase(), path, operation, body };
  }),
);

const ajv = new Ajv2020({ strict: false, logger: false });
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
ajv.addFormat('email', /^[\w.+-]+@\w+(\.\w+)+$/);
ajv.addFormat('uri', (text: string) => URL.canParse(text));
ajv.addSchema(document, 'openapi.json');

const validators = new WeakMap<Schema, ValidateFunction>();

function validator(schema: Schema): ValidateFunction {
  const text = () => JSON.stringify(schema).replaceAll('"#/components/', '"openapi.json#/components/');
  const known = validators.get(schema) ?? ajv.compile(JSON.parse(text()));
  validators.set(schema, known);
  return known;
}

const resolved = (schema: Schema): Schema =>
  schema.$ref ? (document.components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {}) : schema;

/** Strings that ICU and PostgreSQL take; with white space at neither end, which the service drops. */
const plain = (minLength: number, maxLength: number) =>
  fc
    .string({ unit: 'grapheme-composite', minLength, maxLength })
    .map((text) => text.replaceAll(/\0/g, '0').replaceAll(/^\s|\s$/g, 'x'));

const strings: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  uri: fc.webUrl({ validSchemes: ['https'] }),
};

function stringOf({ pattern, format, minLength = 0, maxLength = 50 }: Schema): fc.Arbitrary<string> {
  if (format) return strings[format] as fc.Arbitrary<string>;
  if (pattern && !/\\u|\\p|\[\^/.test(pattern)) return fc.stringMatching(new RegExp(pattern));
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

const anyJson = fc
  .jsonValue({ maxDepth: 3, noUnicodeString: false })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('\\u0000', '0')));

/** Generates values that fit the keywords at one place; constraints between places are left to `validator`. */
function valuesOf(given: Schema): fc.Arbitrary<unknown> {
  const schema = resolved(given);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.oneOf && !schema.properties) return fc.oneof(...schema.oneOf.map(valuesOf));
  if (Array.isArray(schema.type))
    return schema.type.length > 2 ? anyJson : fc.oneof(...schema.type.map((type) => valuesOf({ ...schema, type })));
  if (schema.type === 'string') return stringOf(schema);
  if (schema.type === 'integer' || schema.type === 'number') return numberOf(schema);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'null') return fc.constant(null);
  if (schema.type === 'array')
    return fc.array(valuesOf(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 });
  if (schema.type !== 'object') return anyJson;
  return objectOf(schema);
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<object> {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, valuesOf(part)])),
    {
      requiredKeys: required.filter((name) => name in properties),
    },
  );
  if (additionalProperties === false) return known;
  const unknown = fc.dictionary(
    plain(1, 8).map((name) => `x${name}`),
    anyJson,
    { maxKeys: 2 },
  );
  return fc.tuple(unknown, known).map(([more, own]) => ({ ...more, ...own }));
}

/** Generates values next to what a place takes, and quite different ones. */
function hostileTo(given: Schema): fc.Arbitrary<unknown> {
  const { minimum = 0, maximum = 0, maxLength = 0, minLength = 0 } = resolved(given);
  const edges = [minimum - 1, maximum + 1, minimum + 0.5, '', ' ', '\0', 'x\0', 'x'.repeat(maxLength + 1)];
  return fc.oneof(fc.constantFrom(...edges, 'x'.repeat(Math.max(minLength - 1, 0))), anyJson, fc.constant([]));
}

const SEED = 20_261_122;
const sample = <T>(values: fc.Arbitrary<T>, numRuns: number): T[] => fc.sample(values, { seed: SEED, numRuns });

/** Returns bodies of a schema: those that the document says are valid, or those that it says are not. */
export function bodies(schema: Schema, wanted: 'valid' | 'invalid', count: number): unknown[] {
  const validate = validator(schema);
  const valid = valuesOf(schema).filter((value) => validate(value) === true);
  if (wanted === 'valid') return sample(valid, count);
  const { properties = {}, oneOf = [] } = resolved(schema);
  const parts = { ...properties, ...Object.assign({}, ...oneOf.map((part) => resolved(part).properties)) };
  const names = Object.keys(parts);
  if (names.length === 0) return [];
  const spoilt = fc
    .constantFrom(...names)
    .chain((name) =>
      fc
        .tuple(valid, fc.option(hostileTo(parts[name] as Schema), { nil: undefined }))
        .map(([value, part]) => ({ ...(value as object), [name]: part })),
    );
  const other = fc.oneof(
    { arbitrary: spoilt, weight: 9 },
    { arbitrary: valid.map((value) => [value]), weight: 1 },
    { arbitrary: valid.map((value) => ({ ...(value as object), unknown: 1 })), weight: 1 },
  );
  const long = names.filter((name) => resolved(parts[name] as Schema).maxLength);
  const tooLong = long.flatMap((name) => {
    const part = 'x'.repeat((resolved(parts[name] as Schema).maxLength as number) + 1);
    return sample(valid, 1).map((value) => ({ ...(value as object), [name]: part }));
  });
  return [
    ...tooLong.filter((value) => validate(value) === false),
    ...sample(
      other.filter((value) => validate(JSON.parse(JSON.stringify(value))) === false),
      count,
    ),
  ];
}

/** Returns query strings whose parameters are all valid, or of which one is not. */
export function queries({ parameters = [] }: Operation, wanted: 'valid' | 'invalid', count: number): string[] {
  const own = parameters.filter((one) => one.in === 'query');
  if (own.length === 0 || count === 0) return [];
  const texts = (schema: Schema) => {
    const validate = validator(schema);
    return valuesOf(schema)
      .filter((value) => validate(value) === true)
      .map(String);
  };
  const required = own.filter((one) => one.required).map(({ name }) => name);
  const valid = fc.record(
    { ...Object.fromEntries(own.map(({ name, schema }) => [name, texts(schema)])), unknown: plain(0, 5) },
    { requiredKeys: required as never },
  );
  const asText = (query: object) => new URLSearchParams(query as Record<string, string>).toString();
  if (wanted === 'valid') return sample(valid.map(asText), count);
  const spoilt = fc.constantFrom(...own).chain(({ name, schema }) => {
    const validate = validator(schema);
    const isNumber = schema.type === 'integer';
    const refused = (text: string) =>
      validate(isNumber && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text) === false;
    const wrong = hostileTo(schema)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .filter((text) => text.isWellFormed() && refused(text));
    return fc.tuple(valid, wrong).map(([query, text]) => ({ ...query, [name]: text }));
  });
  return sample(spoilt.map(asText), count);
}
