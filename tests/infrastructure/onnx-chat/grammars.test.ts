import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import Ajv from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { z } from 'zod';
import type { Json, JsonObject } from '../../../src/domain/workspace/json.js';
import { ajvCode } from '../../../src/infrastructure/json-schema/pattern.js';
import { automatonOf, type State } from '../../../src/infrastructure/onnx-chat/worker/grammar/automaton.js';
import { patternsOf } from '../../../src/infrastructure/onnx-chat/worker/grammar/formats.js';
import { grammarOf } from '../../../src/infrastructure/onnx-chat/worker/grammar/json-grammar.js';
import { lengthsOf, ofLength } from '../../../src/infrastructure/onnx-chat/worker/grammar/lengths.js';
import {
  Constraint,
  maskMemory,
  NoMask,
  writeFailure,
  writeMask,
} from '../../../src/infrastructure/onnx-chat/worker/grammar/mask.js';
import { pattern } from '../../../src/infrastructure/onnx-chat/worker/grammar/pattern.js';
import { UnsupportedSchema } from '../../../src/infrastructure/onnx-chat/worker/grammar/schema.js';
import { stringsOf, type Texts } from '../../../src/infrastructure/onnx-chat/worker/grammar/texts.js';
import { schemas } from '../../support/json-schemas.js';
import { formsProgram, listsProgram } from '../../support/onnx/child-runtimes-rig.js';
import { printedSchemas, zodSchemas } from '../../support/onnx/library-schemas.js';
import { tinyChat } from '../../support/onnx/model-folders.js';

const many = <T>(count: number, one: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => one(i));
const properties = (count: number) => Object.fromEntries(many(count, (i) => [`p${i}`, true]));
const refusalOf = (schema: unknown): UnsupportedSchema => {
  try {
    grammarOf(schema as Json, 'schema');
  } catch (error) {
    if (error instanceof UnsupportedSchema) return error;
  }
  throw new Error('the schema is not refused');
};

/** The options with which the service validates. */
const ajvOptions = { strict: false, validateFormats: false, code: ajvCode } as const;
/** Only the choice of the model ends texts of these. `uuid4` is a format that JSON Schema does not know. */
const ENDLESS = new Set(['local datetime', 'time', 'cuid', 'cuid2', 'record', 'uuid4']);
const matches = (texts: Texts, text: string): boolean => {
  if (!('states' in texts)) throw new Error('the texts have no automaton');
  let state: State | undefined = texts.states[0];
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    const edges: State['edges'] =
      state?.edges.filter(([ranges]) => ranges.some(([first, last]) => first <= code && code <= last)) ?? [];
    expect(edges.length).toBeLessThan(2);
    state = edges[0] && texts.states[edges[0][1]];
  }
  return state?.accepts ?? false;
};

describe('the grammar of a schema', () => {
  it('makes each finished answer of the shipped model valid, for a hundred schemas', async () => {
    const { stdout } = await promisify(execFile)('node', [formsProgram, tinyChat, '100', '200'], {
      maxBuffer: 2 ** 24,
    });
    const answers: { schema: JsonObject; text: string; finishReason: string }[] = JSON.parse(stdout);
    const finished = answers.filter(({ finishReason }) => finishReason === 'stop');
    expect([answers.length, finished.length > 95]).toEqual([100, true]);
    const ajv = new Ajv(ajvOptions);
    const invalid = finished.filter(({ schema, text }) => !ajv.validate(schema, JSON.parse(text)));
    expect(invalid).toEqual([]);
    // Numbers have at most 16 digits, even if more would be valid.
    expect(answers.filter(({ text }) => /\d{20}/.test(text))).toEqual([]);
  });

  it('allows exactly the listed values, for 2,000 sets of values that share parts and are prefixes of each other', async () => {
    const { stdout } = await promisify(execFile)('node', [listsProgram, '2000'], { maxBuffer: 2 ** 24 });
    expect(JSON.parse(stdout)).toEqual({ sets: 2_000, wrong: [] });
  });

  it('is made for 10,000 listed values, wherever they branch, and shares their common ends', () => {
    const bits = (i: number) =>
      BigInt(`0x${createHash('sha256').update(`${i}`).digest('hex')}`)
        .toString(2)
        .slice(0, 40);
    const sizeOf = (values: string[]) => grammarOf({ enum: values }, 'schema').split('\n').length;
    expect(sizeOf(many(10_000, bits))).toBeGreaterThan(9_000);
    expect(sizeOf(many(10_000, (i) => i.toString(2)))).toBeLessThan(100);
    const refusal = refusalOf({ type: 'object', properties: { a: { enum: many(20_000, bits) } } });
    expect(refusal).toMatchObject({ path: 'schema.properties.a', message: expect.stringMatching(/^enum .* 10000 /) });
  });

  const branch = { type: 'object', properties: { x: { $ref: '#' } }, required: ['x'] };
  it.each<[unknown, string, keyword: string]>([
    [{ type: 'array', uniqueItems: true }, '', 'uniqueItems'],
    [{ properties: { a: { not: { type: 'string' } } } }, '.properties.a', 'not'],
    [{ type: 'number', multipleOf: 0.5 }, '', 'multipleOf'],
    [{ type: 'string', pattern: 'a(?=b)b' }, '', 'pattern'],
    [{ type: 'string', pattern: '(' }, '', 'pattern'],
    [{ type: 'string', pattern: '((a{1,50}){1,50}){1,50}' }, '', 'pattern'],
    [{ type: 'string', pattern: '(.{0,100}a.{0,100}b){1,9}' }, '', 'pattern'],
    [{ type: 'string', pattern: '^(?<!a)b$' }, '', 'pattern has a look-behind'],
    [{ type: 'string', pattern: '^[A-Z]+$', format: 'ipv4' }, '', 'pattern and format'],
    [{ type: 'array', prefixItems: many(90, (i) => ({ type: 'string', maxLength: 10 + i })) }, '', 'maxLength makes'],
    [{ type: 'array', prefixItems: many(90, (i) => ({ type: 'string', minLength: 10 + i })) }, '', 'minLength makes'],
    [{ type: 'string', pattern: `${'('.repeat(5_000)}a${')'.repeat(5_000)}` }, '', 'pattern is too deep'],
    [{ type: 'strng' }, '', 'type'],
    [{ oneOf: [{ type: 'number' }, { type: 'integer' }] }, '', 'oneOf'],
    [{ type: 'object', oneOf: [branch, { ...branch, title: 'other' }] }, '', 'oneOf'],
    [{ $ref: '#' }, '', '$ref'],
    [{ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, '', '$ref'],
    [{ $ref: '#/%zz' }, '', '$ref'],
    [{ anyOf: [] }, '', 'anyOf'],
    [{ anyOf: many(6_000, (i) => ({ type: 'array', title: `${i}` })) }, '.anyOf', 'anyOf'],
    [{ allOf: many(25, (i) => ({ anyOf: [{ required: [`x${i}`] }, { required: [`y${i}`] }] })) }, '', 'anyOf'],
    [{ properties: properties(2_000) }, '', 'properties'],
    [{ enum: ['a'], pattern: '(' }, '', 'pattern'],
    [{ type: 'string', minLength: 3, maxLength: 2 }, '', 'minLength'],
    [{ type: 'integer', minimum: 3, exclusiveMaximum: 3 }, '', 'minimum'],
    [{ type: 'string', enum: ['ab'], maxLength: 1 }, '', 'enum'],
    [{ type: 'object', minProperties: 2 }, '', 'minProperties'],
    [{ type: 'object', dependentRequired: { a: ['b'] } }, '', 'dependentRequired'],
    [JSON.parse('{ "properties": { "__proto__": true } }'), '', 'properties'],
    [{ required: ['__proto__'] }, '', 'required'],
  ])('is refused with the name of a keyword (case %#)', (schema, path, keyword) => {
    const refusal = refusalOf(schema);
    expect(refusal.path.slice(0, 6 + path.length)).toBe(`schema${path}`);
    expect(refusal.message).toContain(keyword);
  });

  it('is made for an ordinary pattern or format with a length limit, and keeps to the limit', () => {
    for (const source of [
      '^[a-z0-9]+(?:-[a-z0-9]+)*$',
      '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
      patternsOf('email')[0] as string,
    ])
      for (const most of [50, 100, 254]) {
        expect(lengthsOf(ofLength(pattern(source), 0, most))[1]).toBeLessThanOrEqual(most);
        expect(grammarOf({ type: 'string', pattern: source, maxLength: most }, 'schema')).toContain('root');
      }
  });

  it('is made quickly for many properties, branches and references', () => {
    const last = { type: 'object' };
    const $defs = Object.fromEntries(
      many(25, (i) => [`a${i}`, i === 24 ? last : { allOf: many(2, () => ({ $ref: `#/$defs/a${i + 1}` })) }]),
    );
    for (const schema of [
      { type: 'object', properties: properties(1_500), required: Object.keys(properties(1_500)) },
      { anyOf: many(300, (i) => ({ type: 'object', properties: { kind: { const: i }, a: true, b: true } })) },
      { oneOf: many(300, (i) => ({ type: 'object', properties: { kind: { const: i } }, required: ['kind'] })) },
      { $ref: '#/$defs/a0', $defs },
    ])
      expect(grammarOf(schema as unknown as Json, '')).not.toBe('');
  });
});

describe('the automaton of a pattern', () => {
  const accepts = (source: string, text: string): boolean => {
    const states = automatonOf(pattern(source), 500);
    return states !== null && matches({ states }, text);
  };

  it('accepts the texts that the regular expression accepts, and has few states', () => {
    const leaf = fc.constantFrom('a', 'b', '[ab]', '.', '[^a]', 'ab', '');
    const { source } = fc.letrec<{ source: string }>((tie) => ({
      source: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.tuple(tie('source'), tie('source')).map(([a, b]) => a + b),
        fc.tuple(tie('source'), tie('source')).map(([a, b]) => `(${a}|${b})`),
        fc
          .tuple(tie('source'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '{0,4}'))
          .map(([a, times]) => `(${a})${times}`),
      ),
    }));
    const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 }), { maxLength: 10 });
    fc.assert(
      fc.property(source, texts, (some, all) => {
        const whole = new RegExp(`^(?:${some})$`, 'u');
        expect(all.map((text) => accepts(some, text))).toEqual(all.map((text) => whole.test(text)));
      }),
      { numRuns: 200, seed: 18 },
    );
    expect(automatonOf(pattern('(\\w+\\s?){1,20}'), 500)?.length).toBeLessThan(50);
    expect(automatonOf(pattern('(.*a){20}'), 500)?.length).toBeLessThan(50);
  });
});

describe('a schema as libraries print it', () => {
  it('has answers that its library, and ajv, accept', async () => {
    const printed = zodSchemas.map(([, schema]) => z.toJSONSchema(schema) as object);
    const all = JSON.stringify([...printed, ...printedSchemas, ...printed, ...printedSchemas]);
    const program = await promisify(execFile)('node', [formsProgram, tinyChat, '', '400', all], { maxBuffer: 2 ** 24 });
    const answers: { schema: JsonObject; text: string; finishReason: string }[] = JSON.parse(program.stdout);
    const wrong = [];
    for (const [i, { schema, text, finishReason }] of answers.entries()) {
      const [name, library] = zodSchemas[i % (answers.length / 2)] ?? [];
      const isValid =
        finishReason === 'stop'
          ? (await schemas.accepts(schema, text, 'usr_a')) && (!library || library.safeParse(JSON.parse(text)).success)
          : ENDLESS.has(name ?? String(schema.format)) || Boolean(schema.additionalProperties);
      if (!isValid) wrong.push({ name, schema, text });
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['foo', { minLength: 5, maxLength: 5 }, ['xfoox', 'foo']],
    ['^[A-Z]+@A\\.ORG$', { format: 'email' }, ['ME@A.ORG', 'me@a.org']],
    ['^(?!ab)[a-c]{2}$', {}, ['ac', 'ab']],
    ['^(?=[ab]b)[a-c]{2}$|^x$', {}, ['bb', 'bc']],
    ['^[a-c]{2}(?<!b)$', {}, ['bc', 'cb']],
    ['^[a-c]{2}(?<=ab|^cc)$', {}, ['cc', 'ac']],
    ['^(?!.*\\.\\.)[a.]+$', { maxLength: 4 }, ['a.a.', 'a..a']],
    ['^[\\w-.]$', { format: 'nobody knows it' }, ['-', '+']],
  ])('has the texts by %s beside %p that ajv accepts', (source, others, [right, wrong]) => {
    const texts = stringsOf({ pattern: source, ...others });
    expect([right, wrong].map((text) => matches(texts as Texts, text as string))).toEqual([true, false]);
    const isValid = new Ajv(ajvOptions).compile({ pattern: source, ...others });
    expect(isValid(right)).toBe(true);
  });

  it('is refused with the place of a look-around inside', () => {
    const refusal = refusalOf({ type: 'object', properties: { a: { type: 'string', pattern: '^ab(?!c)d$' } } });
    expect(refusal).toMatchObject({
      path: 'schema.properties.a',
      message: expect.stringMatching(/^pattern has a look-ahead at character \d/),
    });
  });

  it('is refused if its product of automata is large', () => {
    const parts = many(12, (i) => ({ pattern: `^(?=.*${'abcdefghijkl'[i]}).*$` }));
    expect(refusalOf({ type: 'string', allOf: [...parts, ...parts], maxLength: 4_000 }).message).toContain('pattern');
  });
});

const mask = Int32Array.of(0b1010, -1);

describe('the masks of a sequence', () => {
  const { port1, port2 } = new MessageChannel();
  afterAll(() => port1.close());

  it('are late until they are written, token by token', async () => {
    const memory = maskMemory(40);
    const constraint = new Constraint(memory, port2);
    const late = constraint.late();
    expect(() => constraint.allowed()).toThrow(NoMask);
    writeMask(memory, mask);
    await late;
    expect(constraint.late()).toBeNull();
    expect([...constraint.allowed()]).toEqual([...mask]);
    constraint.accept(3);
    expect(constraint.late()).not.toBeNull();
    expect(() => constraint.allowed()).toThrow(NoMask);
    writeMask(memory, mask);
    expect(constraint.late()).toBeNull();
  });

  it('fail when all waits of a sequence together exceed one time limit', async () => {
    await expect(new Constraint(maskMemory(40), port2, 1).late()).rejects.toThrow(NoMask);
    const memory = maskMemory(40);
    const clock = jest.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValueOnce(10_000);
    const constraint = new Constraint(memory, port2);
    const first = constraint.late();
    writeMask(memory, mask);
    await first;
    clock.mockRestore();
    constraint.accept(3);
    await expect(constraint.late()).rejects.toThrow(NoMask);
  });

  it('do not come after their thread has failed', async () => {
    const memory = maskMemory(40);
    const constraint = new Constraint(memory, port2);
    const late = constraint.late();
    writeFailure(memory);
    await late;
    expect(constraint.late()).toBeNull();
    expect(() => constraint.allowed()).toThrow(NoMask);
    writeMask(memory, mask);
    expect(() => constraint.allowed()).toThrow(NoMask);
  });
});
