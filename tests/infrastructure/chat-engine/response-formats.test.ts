import Ajv from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { ResponseFormat } from '../../../src/domain/chat/chat.js';
import type { Json, JsonObject } from '../../../src/domain/workspace/json.js';
import { grammarOf } from '../../../src/infrastructure/chat-engine/worker/grammar/json-grammar.js';
import { UnsupportedSchema } from '../../../src/infrastructure/chat-engine/worker/grammar/schema.js';
import { ChildRuntimesRig } from '../../support/onnx/child-runtimes-rig.js';
import { jsonSchema } from '../../support/onnx/json-schemas.js';
import { tinyChat } from '../../support/onnx/model-folders.js';

const format = (schema: JsonObject): ResponseFormat => ({ type: 'json_schema', name: 'answer', schema, strict: true });
const refusal = (path: string, message: string) => ({
  code: 'invalid_request',
  advice: { details: [{ path, message: expect.stringContaining(message) }] },
});

/** Leaves out the schemas that are refused because no value is valid, and rare conjunctions. */
function isPossible(schema: Json): boolean {
  try {
    return grammarOf(schema, '') !== '';
  } catch (error) {
    if (error instanceof UnsupportedSchema) return false;
    throw error;
  }
}

const SCHEMAS = 40;
/** Each call answers with a tuple for several schemas, so that fewer grammars are compiled. */
const AT_ONCE = 5;

describe('an answer in a form', () => {
  const rig = new ChildRuntimesRig({ atOnce: 16, queue: 100 });
  beforeAll(() => rig.start(tinyChat));
  afterAll(() => rig.runtimes.close());

  it('parses and validates, whatever the schema', async () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const schemas = fc.sample(jsonSchema.filter(isPossible), { numRuns: SCHEMAS, seed: 18 });
    const calls = Array.from({ length: SCHEMAS / AT_ONCE }, (_, i) => schemas.slice(i * AT_ONCE, (i + 1) * AT_ONCE));
    let stopped = 0;
    const ask = async (some: readonly JsonObject[], seed: number) => {
      const { $defs } = some[0] as JsonObject;
      const anyOf = some.map(({ $defs: _, ...one }, i) => ({
        type: 'array',
        prefixItems: [{ const: i }, one],
        minItems: 2,
        items: false,
      }));
      const schema = { type: 'array', prefixItems: anyOf, minItems: 5, items: false, $defs } as unknown as JsonObject;
      const about = { responseFormat: format(schema), temperature: 1, sampling: { seed }, maxTokens: 200 };
      const { text, finishReason } = await rig.ask('Say it.', { ...about, caller: `usr_${seed}` });
      if (finishReason === 'length') return;
      stopped += 1;
      expect({ text, schema, errors: ajv.validate(schema, JSON.parse(text)) ? null : ajv.errors }).toMatchObject({
        errors: null,
      });
    };
    for (let i = 0; i < calls.length; i += 2)
      await Promise.all(calls.slice(i, i + 2).map((some, k) => ask(some, i + k)));
    expect(stopped).toBeGreaterThan(1);
  });

  it('is an object for json_object, and comes in parts like another', async () => {
    const about = { responseFormat: { type: 'json_object' }, maxTokens: 60 } as const;
    const free = rig.ask('What is 7 + 5?');
    const [{ answer }, whole] = await Promise.all([
      rig.askInParts('What is 7 + 5?', about),
      rig.ask('What is 7 + 5?', about),
    ]);
    expect(answer.text).toBe(whole.text);
    expect(answer.text[0]).toBe('{');
    expect((await free).text).toBe('7 + 5 = 12.');
  });

  it.each([
    [{ type: 'array', uniqueItems: true }, '', 'uniqueItems'],
    [{ properties: { a: { not: { type: 'string' } } } }, '.properties.a', 'not'],
    [{ type: 'number', multipleOf: 3 }, '', 'multipleOf'],
    [{ type: 'string', pattern: '(?=a)b' }, '', 'pattern'],
    [{ type: 'string', pattern: '(' }, '', 'pattern'],
    [{ type: 'string', format: 'iri' }, '', 'format'],
    [{ type: 'strng' }, '', 'type'],
    [{ oneOf: [{ type: 'number' }, { type: 'integer' }] }, '', 'oneOf'],
    [{ $ref: '#' }, '', '$ref'],
    [{ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, '', 'no value'],
    [{ type: 'integer', minimum: 3, exclusiveMaximum: 3 }, '', 'minimum'],
    [{ type: 'string', enum: ['ab'], maxLength: 1 }, '', 'enum'],
    [{ type: 'object', minProperties: 2 }, '', 'minProperties'],
    [{ type: 'object', dependentRequired: { a: ['b'] } }, '', 'dependentRequired'],
  ])('names what it cannot keep to: %j', async (schema, path, keyword) => {
    const asked = rig.ask('Hi', { responseFormat: format(schema as unknown as JsonObject) });
    await expect(asked).rejects.toMatchObject(refusal(`response_format.json_schema.schema${path}`, keyword));
  });
});
