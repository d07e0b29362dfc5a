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

const SCHEMAS = 200;
/** Each call answers with a tuple for several schemas, so that fewer grammars are compiled. */
const AT_ONCE = 4;

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
      const schema = {
        type: 'array',
        prefixItems: anyOf,
        minItems: AT_ONCE,
        items: false,
        $defs,
      } as unknown as JsonObject;
      const about = { responseFormat: format(schema), temperature: 1, sampling: { seed }, maxTokens: 180 };
      const { text, finishReason } = await rig.ask('Say it.', { ...about, caller: `usr_${seed}` });
      if (finishReason === 'length') return;
      stopped += 1;
      expect({ text, schema, errors: ajv.validate(schema, JSON.parse(text)) ? null : ajv.errors }).toMatchObject({
        errors: null,
      });
    };
    for (let i = 0; i < calls.length; i += 8)
      await Promise.all(calls.slice(i, i + 8).map((some, k) => ask(some, i + k)));
    expect(stopped).toBeGreaterThan(20);
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
    [{ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, '', '$ref'],
    [{ $ref: '#/%zz' }, '', '$ref'],
    [{ anyOf: [] }, '', 'anyOf'],
    [{ enum: ['a'], pattern: '(' }, '', 'pattern'],
    [{ type: 'string', minLength: 3, maxLength: 2 }, '', 'minLength'],
    [{ type: 'integer', minimum: 3, exclusiveMaximum: 3 }, '', 'minimum'],
    [{ type: 'string', enum: ['ab'], maxLength: 1 }, '', 'enum'],
    [{ type: 'object', minProperties: 2 }, '', 'minProperties'],
    [{ type: 'object', dependentRequired: { a: ['b'] } }, '', 'dependentRequired'],
  ])('names what it cannot keep to: %j', async (schema, path, keyword) => {
    const asked = rig.ask('Hi', { responseFormat: format(schema as unknown as JsonObject) });
    await expect(asked).rejects.toMatchObject(refusal(`response_format.json_schema.schema${path}`, keyword));
  });

  it('chooses among the allowed tokens only, whatever a caller prefers', async () => {
    const schema = {
      type: 'object',
      properties: { b: { enum: ['yes', 'no'] }, a: { type: 'integer', minimum: 1, maximum: 3 } },
    };
    const all = { ...schema, required: ['a', 'b'] };
    const prompt = 'What is the capital of France?';
    const greedy = await rig.ask(prompt, { responseFormat: format(all) });
    expect(greedy).toMatchObject({
      finishReason: 'stop',
      text: expect.stringMatching(/^\{"b": ?"(yes|no)", ?"a": ?[1-3]\}$/),
    });
    const drawn = {
      temperature: 2,
      sampling: { seed: 3, topP: 0.9, topLogprobs: 2, presencePenalty: 1, logitBias: { 5: 100 } },
    };
    const [one, other] = await Promise.all(
      [1, 2].map(() => rig.askInParts(prompt, { ...drawn, responseFormat: format(all) })),
    );
    expect(one?.answer.text).toBe(other?.answer.text);
    expect(one?.answer.text).toMatch(/^\{"b": ?"(yes|no)", ?"a": ?[1-3]\}$/);
    expect(one?.answer.logprobs?.map(({ token }) => token).join('')).toBe(one?.answer.text);
    // The prompt is in the prefix cache, of calls with and without a form.
    expect(greedy.promptTokens - (await rig.ask(prompt, { responseFormat: format(all) })).cachedTokens).toBeLessThan(3);
    const stopped = await rig.ask(prompt, { responseFormat: format(all), sampling: { stop: ['"a"'] } });
    expect(stopped).toMatchObject({ finishReason: 'stop', text: expect.stringMatching(/^\{"b": ?"(yes|no)", ?$/) });
    const [first] = (await rig.ask(prompt, { sampling: { topLogprobs: 0 } })).logprobs ?? [];
    expect(first?.token).not.toBe('{');
  });

  /** The pattern backtracks without end. */
  const endless = (i: number) => format({ enum: [`${'a'.repeat(50)}${i}`], pattern: '^(a+)+$' });

  it('waits for the place of a grammar, and those of one caller leave places to others', async () => {
    const controller = new AbortController();
    const about = { signal: controller.signal, caller: 'usr_other' };
    let over = 0;
    const calls = Array.from({ length: 9 }, (_, i) =>
      rig.ask('Hi', { ...about, responseFormat: endless(i) }).finally(() => {
        over += 1;
      }),
    );
    const ends = Promise.allSettled(calls);
    const others = Array.from({ length: 9 }, (_, i) => rig.ask('Hi', { responseFormat: format({ const: i }) }));
    expect((await Promise.all(others)).map(({ text }) => text)).toEqual([...'012345678']);
    expect(over).toBe(0);
    controller.abort(new Error('gone'));
    expect((await ends).filter(({ status }) => status === 'fulfilled')).toEqual([]);
    const next = { caller: 'usr_other', responseFormat: format({ const: 'ok' }) };
    expect((await rig.ask('Hi', next)).text).toBe('"ok"');
  });

  it('is refused when the process dies meanwhile, and made by the next one', async () => {
    const call = rig.ask('Hi', { responseFormat: endless(0) });
    rig.kill();
    await expect(call).rejects.toMatchObject({ code: 'runtime_unavailable' });
    while (rig.runtimes.status('a').state !== 'ready') await rig.log.news();
    expect((await rig.ask('Hi', { responseFormat: format({ const: null }) })).text).toBe('null');
  });
});
