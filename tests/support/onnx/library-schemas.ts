import { z } from 'zod';

const tree: z.ZodType = z.object({ name: z.string().max(4), children: z.lazy(() => z.array(tree).max(1)) });

/** Schemas of zod 4. */
export const zodSchemas: readonly (readonly [name: string, schema: z.ZodType])[] = Object.entries({
  email: z.email(),
  'email with a limit': z.string().email().max(40),
  url: z.url(),
  uuid: z.uuid(),
  'uuid 4': z.uuidv4(),
  datetime: z.iso.datetime(),
  'datetime with offset': z.iso.datetime({ offset: true }),
  'local datetime': z.iso.datetime({ local: true }),
  'datetime with precision': z.iso.datetime({ precision: 6 }),
  date: z.iso.date(),
  time: z.iso.time(),
  cuid: z.cuid(),
  cuid2: z.cuid2(),
  ulid: z.ulid(),
  nanoid: z.nanoid(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  base64: z.base64().max(40),
  startsWith: z.string().startsWith('a.').max(20),
  endsWith: z.string().endsWith('z').max(20),
  includes: z.string().includes('mid'),
  'all three, and length': z.string().startsWith('a').endsWith('z').includes('m').length(8),
  'regex and lengths': z
    .string()
    .regex(/^[A-Z]{2}\d+$/)
    .min(4)
    .max(6),
  length: z.string().length(5),
  int: z.int(),
  positive: z.int().positive(),
  multipleOf: z.int().multipleOf(5),
  enum: z.enum(['red', 'green']),
  literal: z.literal(['a', 3, true]),
  nullable: z.nullable(z.int()),
  optional: z.object({ a: z.boolean().optional(), b: z.null() }),
  record: z.record(z.string().regex(/^[a-z]{1,3}$/), z.boolean()),
  tuple: z.tuple([z.string().max(5), z.int()]),
  'discriminated union': z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), size: z.int() }),
    z.object({ kind: z.literal('b'), on: z.boolean() }),
  ]),
  recursive: tree,
});

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const string = (rest: object) => ({ type: 'string', ...rest });

/** Schemas in the manner of zod-to-json-schema (zod 3), pydantic 2 and TypeBox. */
export const printedSchemas: readonly object[] = [
  // zod-to-json-schema
  ...['email', 'uri', 'uuid', 'date-time', 'date', 'ipv4', 'ipv6', 'duration'].map((format) => string({ format })),
  string({ pattern: '^[cC][^\\s-]{8,}$', maxLength: 20 }),
  string({ pattern: '^[0-9a-z]+$', maxLength: 30 }),
  string({ pattern: '^[0-9A-HJKMNP-TV-Z]{26}$' }),
  string({ pattern: '^[a-zA-Z0-9_-]{21}$' }),
  string({ pattern: '^a\\.', maxLength: 20 }),
  string({ allOf: [{ pattern: '^ab' }, { pattern: 'yz$' }], maxLength: 20 }),
  string({ contentEncoding: 'base64', maxLength: 20 }),
  { type: 'integer', exclusiveMinimum: 0, multipleOf: 3 },
  { type: ['string', 'null'], maxLength: 5 },
  { $schema: DRAFT_7, type: 'array', minItems: 2, maxItems: 2, items: [string({ maxLength: 3 }), { type: 'boolean' }] },
  { type: 'object', additionalProperties: { type: 'boolean' } },
  // pydantic 2
  string({ format: 'uri', minLength: 1, maxLength: 2083, title: 'Site' }),
  string({ format: 'uuid4' }),
  string({ format: 'binary', maxLength: 5 }),
  string({ format: 'decimal', pattern: '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$', maxLength: 9 }),
  string({ pattern: '^[\\w-.]+$', maxLength: 9 }),
  { anyOf: [{ type: 'integer', exclusiveMinimum: 0 }, { type: 'null' }], default: null, title: 'Age' },
  {
    $defs: {
      Cat: {
        properties: { kind: { const: 'cat', type: 'string' }, lives: { type: 'integer' } },
        required: ['kind'],
        type: 'object',
      },
      Dog: { properties: { kind: { const: 'dog', type: 'string' } }, required: ['kind'], type: 'object' },
    },
    properties: {
      pet: {
        discriminator: { mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' }, propertyName: 'kind' },
        oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
      },
    },
    required: ['pet'],
    type: 'object',
  },
  // TypeBox
  string({ format: 'email', minLength: 5, maxLength: 60 }),
  string({ pattern: '^(?=.*[0-9])(?=.*[a-z]).{4,12}$' }),
  {
    type: 'object',
    required: ['x'],
    properties: {
      x: {
        anyOf: [
          { const: 'a', type: 'string' },
          { const: 2, type: 'number' },
        ],
      },
    },
  },
  { type: 'object', propertyNames: string({ pattern: '^k[0-9]$' }), additionalProperties: { type: 'integer' } },
  { $schema: DRAFT_7, type: 'array', items: [{ type: 'boolean' }], additionalItems: false, minItems: 1, maxItems: 1 },
].map((schema) => schema as object);
