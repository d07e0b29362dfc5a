import fc from 'fast-check';
import type { JsonObject } from '../../../src/domain/workspace/json.js';

const name = fc.constantFrom('a', 'b', 'name', 'two words', 'é', 'q"\\');
const patterns = [
  '^[a-z]{2,4}$',
  '^\\d{3}-[A-F]+$',
  '(red|green|blue)!?',
  '^\\w+@\\w+\\.(org|net)$',
  '[^a-z"\\\\]{1,3}',
  '^\\S\\s?\\W$',
  '^(?=.*\\d)(?!.*--)[a-z\\d-]{3,8}(?<!-)$',
  '^(?!red$)(?:red|green|r[a-z]{2,3})$',
  '^[\\w-.]{2,9}$', // not valid with the flag u
];
/** Each has texts by any of the formats below. */
const loose = ['^\\S+$', '^(?!0)', '[^A-Z]$', '^(?=.*[0-9a-z])[^"]*(?<![ _])$'];

const bounds = (integer: boolean) => {
  const value = integer ? fc.integer({ min: -2_000, max: 2_000 }) : fc.double({ min: -50, max: 50, noNaN: true });
  const keys = fc.constantFrom(
    ['minimum', 'maximum'],
    ['exclusiveMinimum', 'exclusiveMaximum'],
    ['minimum', 'exclusiveMaximum'],
  );
  return fc
    .tuple(value, fc.constantFrom(2, 7.5, 120, 3_000), keys, fc.constantFrom(0, 1, 2))
    .map(([low, size, [from, to], kept]) => ({
      type: integer ? 'integer' : 'number',
      ...(kept !== 1 && { [from as string]: low }),
      ...(kept !== 2 && { [to as string]: low + size }),
    }));
};

const string = fc.oneof(
  fc
    .tuple(fc.nat(4), fc.nat(12))
    .map(([minLength, more]) => ({ type: 'string', minLength, maxLength: minLength + more })),
  fc.tuple(fc.constantFrom(...patterns), fc.boolean()).map(([pattern, bounded]) => ({
    type: 'string',
    pattern,
    ...(bounded && { minLength: 2, maxLength: 14 }),
  })),
  fc
    .constantFrom('date-time', 'date', 'time', 'email', 'uuid', 'ipv4', 'unknown')
    .map((format) => ({ type: 'string', format })),
  fc
    .tuple(fc.constantFrom('date-time', 'email', 'uuid', 'cuid2'), fc.subarray(loose, { minLength: 1 }), fc.nat(2))
    .map(([format, [pattern, ...others], cut]) => ({
      type: 'string',
      format,
      pattern,
      ...(others.length > 0 && { allOf: others.map((other) => ({ pattern: other })) }),
      ...(cut > 0 && { minLength: 8, maxLength: 60 }),
    })),
  fc
    .tuple(fc.constantFrom('^a', '^[ab]c'), fc.constantFrom('z$', 'yz?$'), fc.nat(9))
    .map(([pattern, end, maxLength]) => ({ type: 'string', allOf: [{ pattern }, { pattern: end }, { maxLength }] })),
  fc
    .tuple(fc.integer({ min: 1, max: 100 }), fc.integer({ min: -900, max: 900 }))
    .map(([multipleOf, minimum]) => ({ type: 'integer', multipleOf, minimum, maximum: minimum + 150 })),
);

const listed = fc.oneof(
  fc
    .uniqueArray(
      fc.oneof(
        fc.string({ maxLength: 6, unit: 'binary' }),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((all) => ({ enum: all })),
  fc.oneof(fc.constant('x'), fc.constant({ k: [1, 'two'] }), fc.integer()).map((value) => ({ const: value })),
  fc.constant({ type: 'string', enum: ['a', 'long', 3], maxLength: 2 }),
);

const { schema } = fc.letrec<{ schema: JsonObject; object: JsonObject }>((tie) => ({
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(name, tie('schema'), fc.boolean()), { selector: ([key]) => key, maxLength: 3 }),
      fc.constantFrom(undefined, true, false),
    )
    .map(([members, additionalProperties]) => ({
      type: 'object',
      properties: Object.fromEntries(members.map(([key, value]) => [key, value])),
      required: members.filter(([, , required]) => required).map(([key]) => key),
      ...(additionalProperties !== undefined && { additionalProperties }),
    })),
  schema: fc.oneof(
    { maxDepth: 3, depthSize: 'xsmall' },
    bounds(true),
    bounds(false),
    string,
    listed,
    fc.constantFrom(
      { type: 'boolean' },
      { type: 'null' },
      { type: ['boolean', 'integer'], minimum: 0, maximum: 9 },
      { $ref: '#/$defs/tree' },
    ),
    tie('object'),
    fc
      .tuple(tie('schema'), fc.nat(2), fc.nat(2))
      .map(([items, minItems, more]) => ({ type: 'array', items, minItems, maxItems: minItems + more })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc
      .tuple(tie('object'), tie('object'))
      .map(([{ type: _, ...rest }, other]) => ({ ...rest, type: 'object', anyOf: [other, { required: ['a'] }] })),
    fc
      .array(tie('schema'), { minLength: 1, maxLength: 2 })
      .map((prefixItems) => ({ type: 'array', prefixItems, items: false, minItems: 1 })),
  ) as fc.Arbitrary<JsonObject>,
}));

const tree = {
  type: 'object',
  properties: {
    v: { type: 'integer', minimum: 0, maximum: 9 },
    l: { $ref: '#/$defs/tree' },
    r: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/tree' }] },
  },
  required: ['v'],
  additionalProperties: false,
};

/** Generates JSON schemas with the keywords that grammars support. Some schemas have no valid value. */
export const jsonSchema: fc.Arbitrary<JsonObject> = schema.map(
  (one) => ({ ...one, $defs: { tree } }) as unknown as JsonObject,
);
