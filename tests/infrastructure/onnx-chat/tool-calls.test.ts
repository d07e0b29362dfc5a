import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import Ajv from 'ajv/dist/2020.js';
import type { ChatRequest, Tool, ToolCall, ToolCallPart } from '../../../src/domain/chat/chat.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { ajvCode } from '../../../src/infrastructure/json-schema/pattern.js';
import { ChildRuntimesRig, callsProgram } from '../../support/onnx/child-runtimes-rig.js';
import {
  endId,
  endless,
  ModelFolders,
  specialIds,
  tinyChat,
  tokenId,
  withFields,
} from '../../support/onnx/model-folders.js';
import { type ToolTemplate, withToolTemplate } from '../../support/onnx/tool-templates.js';

const rig = new ChildRuntimesRig({ atOnce: 16, queue: 100 });
const folders = new ModelFolders();
const forms: ToolTemplate[] = ['tags', 'list', 'json'];
/** The template of this model shows no tools. */
const plain = withFields({ chat_template: "{% for m in messages %}{{ m.content }}{% endfor %}{{ '\n' }}" });
beforeAll(async () => {
  for (const form of forms) await rig.start(folders.like(withToolTemplate(form)), form);
  await rig.start(folders.like({ 'tokenizer_config.json': plain }), 'plain');
  for (const id of [...forms, 'plain']) expect(rig.runtimes.status(id)).toMatchObject({ state: 'ready' });
});
afterAll(() => rig.runtimes.close().finally(() => folders.remove()));

const city = { type: 'object', properties: { city: { enum: ['Paris', 'Rome'] } }, required: ['city'] };
const hours = { type: 'object', properties: { zone: { type: 'integer', minimum: 1, maximum: 9 } }, required: ['zone'] };
const tools: Tool[] = [
  { name: 'get_weather', description: 'Tells the weather.', parameters: city },
  { name: 'get_weather_then', parameters: hours },
  { name: 'stop' },
];
const [validators, ajv] = [new Map<string, (json: unknown) => boolean>(), new Ajv({ strict: false })];
for (const { name, parameters = { type: 'object', maxProperties: 0 } } of tools)
  validators.set(name, ajv.compile(parameters));
const isValid = ({ name, arguments: text }: Pick<ToolCall, 'name' | 'arguments'>) =>
  validators.get(name)?.(JSON.parse(text)) ?? false;

const question = 'What is 7 + 5?';
const withoutIds = <T extends { toolCalls?: readonly ToolCall[] }>(answer: T) => ({
  ...answer,
  cachedTokens: 0,
  toolCalls: answer.toolCalls?.map(({ id: _, ...call }) => call),
});

describe.each(forms)('a model with calls in the form of %s', (id) => {
  const ask = (about: Partial<ChatRequest>) => rig.ask(question, { id, tools, ...about });

  it('makes calls that validate, whole and in parts', async () => {
    for (const seed of [1, 2, 3]) {
      const about = { toolChoice: 'required', maxTokens: 200, temperature: 1, sampling: { seed } } as const;
      const answer = await ask(about);
      const { answer: streamed, parts } = await rig.askInParts(question, { id, tools, ...about });
      expect(withoutIds(streamed)).toEqual(withoutIds(answer));
      const calls = answer.toolCalls ?? [];
      expect(calls.length).toBeGreaterThan(0);
      const complete = answer.finishReason === 'tool_calls' ? calls : calls.slice(0, -1);
      expect(complete.filter((call) => !isValid(call))).toEqual([]);
      for (const call of [...calls, ...(streamed.toolCalls ?? [])]) expect(call.id).toMatch(/^call_[0-9a-f-]{36}$/);
      const begun = parts.flatMap((part) => part.toolCalls ?? []).filter((part) => part.id !== undefined);
      expect(begun.map(({ index, name }) => [index, name])).toEqual(calls.map(({ name }, i) => [i, name]));
    }
  });

  it('calls the named tool once', async () => {
    for (const { name } of tools) {
      const { text, toolCalls, finishReason } = await ask({ toolChoice: { tool: name }, sampling: endless });
      expect([text, finishReason, toolCalls?.map((call) => [call.name, isValid(call)])]).toEqual([
        '',
        'tool_calls',
        [[name, true]],
      ]);
    }
  });

  it('calls one tool if calls may not stand together or its form has only one, else several', async () => {
    const one = await ask({ toolChoice: 'required', parallelToolCalls: false, sampling: endless, maxTokens: 200 });
    expect(one).toMatchObject({ finishReason: 'tool_calls', toolCalls: [expect.anything()] });
    const further = { logitBias: { ...endless.logitBias, [tokenId(',')]: 100 } };
    const more = await ask({ toolChoice: 'required', tools: tools.slice(2), sampling: further, maxTokens: 200 });
    if (id === 'json') expect(more).toMatchObject({ finishReason: 'tool_calls', toolCalls: [expect.anything()] });
    else expect([more.finishReason, (more.toolCalls ?? []).length > 1]).toEqual(['length', true]);
  });

  it('answers in free text if it calls nothing, with the same probabilities as without tools', async () => {
    const about = { sampling: { topLogprobs: 1 } };
    const { promptTokens: _, ...answer } = await ask(about);
    expect(answer).toMatchObject({ text: '7 + 5 = 12.', finishReason: 'stop' });
    expect([...(answer.logprobs ?? [])].map(({ token }) => token).join('')).toBe(answer.text);
    expect(answer).not.toHaveProperty('toolCalls');
    expect(await rig.ask(question, { id, ...about })).toMatchObject({ text: answer.text });
    const stopped = await ask({ sampling: { stop: [' ='] } });
    expect(stopped).toMatchObject({ text: '7 + 5', finishReason: 'stop' });
  });

  it('never calls a tool if it must not, and does not see them then', async () => {
    const none = await ask({ toolChoice: 'none' });
    expect(none).toMatchObject({ text: '7 + 5 = 12.' });
    expect(none.promptTokens).toBe((await rig.ask(question, { id })).promptTokens);
  });

  it('beside a response format calls a tool or has the format', async () => {
    const schema = { enum: ['{"name": "get', 'twelve'] } as unknown as JsonObject;
    const responseFormat = { json: 'schema', name: 'answer', schema } as const;
    const seen = new Set<string>();
    for (let seed = 0; seed < 12; seed++) {
      const answer = await ask({ responseFormat, temperature: 2, sampling: { seed }, maxTokens: 200 });
      seen.add(answer.toolCalls ? 'calls' : 'text');
      if (answer.toolCalls) expect(answer.finishReason === 'length' || answer.toolCalls.every(isValid)).toBe(true);
      else if (answer.finishReason === 'stop') expect(schema.enum).toContain(JSON.parse(answer.text));
    }
    expect(seen).toContain('text');
    const forced = await ask({ responseFormat, toolChoice: { tool: 'stop' } });
    expect(forced).toMatchObject({ text: '', finishReason: 'tool_calls' });
  });

  it('refuses a schema without a grammar, with its place', async () => {
    const wrong = { type: 'object', properties: { a: { not: { type: 'string' } } } };
    const refused = (about: Partial<Tool>) =>
      ask({ tools: [...tools.slice(0, 1), { name: 'wrong', ...about }] }).catch((error) => error.advice?.details);
    const at = (path: string, word: string) => [{ path, message: expect.stringContaining(word) }];
    expect(await refused({ parameters: wrong })).toEqual(at('tools.1.function.parameters.properties.a', 'not'));
    expect(await refused({ parameters: wrong, place: 'x' })).toEqual(at('x.properties.a', 'not'));
    expect(await refused({ parameters: { type: 'string' } })).toEqual(at('tools.1.function.parameters', 'type'));
    expect(await refused({ parameters: { required: ['a'], properties: { a: false } } })).toEqual(
      at('tools.1.function.parameters', 'enum'),
    );
    expect(
      await ask({ tools: [{ name: 'any', parameters: {} }, { name: 'wrong' }], toolChoice: { tool: 'wrong' } }),
    ).toMatchObject({ toolCalls: [{ name: 'wrong', arguments: '{}' }] });
  });
});

it.each<[string, Partial<ChatRequest>]>([
  ['chat_template_kwargs', { templateFields: { tone: 'x'.repeat(100_000) } }],
  ['reasoning_effort', { reasoningEffort: 'x'.repeat(100_001) }],
])('variables of the template that are too long are refused: %s', async (path, about) => {
  const refusal = { code: 'invalid_request', advice: { details: [{ path }] } };
  await expect(rig.ask(question, { id: 'tags', ...about })).rejects.toMatchObject(refusal);
});

describe('tools', () => {
  it('are refused for a model that does not know them, unless it must not call them', async () => {
    const refusal = { code: 'unsupported_parameter', advice: { details: [{ path: 'tools' }] } };
    await expect(rig.ask(question, { id: 'plain', tools })).rejects.toMatchObject(refusal);
    await expect(rig.askInParts(question, { id: 'plain', tools })).rejects.toMatchObject(refusal);
    for (const about of [{ tools, toolChoice: 'none' as const }, { tools: [] }])
      expect(await rig.ask(question, { id: 'plain', ...about })).toHaveProperty('text');
  });

  it.each<[string, Partial<ChatRequest>]>([
    ['tools', { tools: Array.from({ length: 129 }, (_, i) => ({ name: `f${i}` })) }],
    ['tools', { tools: [{ name: 'f' }, { name: 'f' }] }],
    ['tools', { tools: [{ name: 'f"' }] }],
    ['tools', { tools: ['f', 'g'].map((name) => ({ name, description: 'x'.repeat(500_001) })) }],
    ['tools', { tools: [{ name: 'f', parameters: { title: 'x'.repeat(100_001) } }] }],
    ['tool_choice', { tools, toolChoice: { tool: 'g' } }],
    ['tool_choice', { toolChoice: 'required' }],
  ])('beyond the limits are refused with %s (%#)', async (path, about) => {
    const refusal = { code: 'invalid_request', advice: { details: [{ path }] } };
    await expect(rig.ask(question, { id: 'tags', ...about })).rejects.toMatchObject(refusal);
  });

  it('are called after a special token, if the tokenizer has one', async () => {
    const [first = 0] = specialIds;
    const special = { id: first, content: '[TOOL_CALLS]', special: true };
    const folder = folders.like({
      'config.json': withFields({ eos_token_id: endId }),
      'generation_config.json': withFields({ eos_token_id: endId }),
      'tokenizer.json': (text) => {
        const tokenizer = JSON.parse(text);
        const kept = tokenizer.added_tokens.filter(({ id }: { id: number }) => id !== first);
        return JSON.stringify({ ...tokenizer, added_tokens: [...kept, { ...kept[0], ...special }] });
      },
      'tokenizer_config.json': (text) =>
        withFields({ pad_token: null, added_tokens_decoder: {} })(
          withToolTemplate('list')['tokenizer_config.json'](text),
        ),
    });
    expect(await rig.start(folder, 'special')).toMatchObject({ state: 'ready' });
    const sampling = { logitBias: { [first]: 100 } };
    const about = { id: 'special', tools: tools.slice(2), parallelToolCalls: false, sampling };
    const answer = await rig.ask(question, about);
    expect(answer).toMatchObject({ text: '', toolCalls: [{ name: 'stop', arguments: '{}' }] });
    expect(answer.completionTokens).toBeLessThan(45);
    expect(await rig.ask(question, { ...about, toolChoice: 'none' })).not.toHaveProperty('toolCalls');
    await rig.runtimes.stop('special');
  });

  it('fail if a complete call breaks its schema; the log has the digest of the schema', async () => {
    // A faulty tokenizer, with other texts of tokens than its vocabulary says.
    const decoders = [{ type: 'ByteLevel' }, { type: 'Replace', pattern: { String: 'R' }, content: 'D' }];
    const folder = folders.like({
      'tokenizer.json': withFields({ decoder: { type: 'Sequence', decoders } }),
      ...withToolTemplate('tags'),
    });
    await rig.start(folder, 'faulty');
    const parameters = { type: 'object', properties: { a: { const: 'R' } }, required: ['a'] };
    const about = { id: 'faulty', tools: [{ name: 'f', parameters }], toolChoice: 'required', maxTokens: 200 } as const;
    const failure = { code: 'runtime_invalid_response' };
    await expect(rig.ask(question, { ...about, sampling: endless })).rejects.toMatchObject(failure);
    const read: ToolCallPart[] = [];
    const stream = async () => {
      for await (const { toolCalls = [] } of rig.stream(question, { ...about, sampling: endless }))
        read.push(...toolCalls);
    };
    await expect(stream()).rejects.toMatchObject(failure);
    expect(read.filter(({ index }) => index > 0)).toEqual([]); // the first call never counts as finished
    const digest = createHash('sha256').update(JSON.stringify(parameters)).digest('hex');
    const logged = rig.log.of('chat runtime broke the schema of a tool');
    expect(logged.map((line) => [line.level, line.fields])).toEqual(
      Array(2).fill(['error', { runtime: 'faulty', schema_sha256: digest }]),
    );
    await rig.runtimes.stop('faulty');
  });

  it('with 200 random schemas are called with valid arguments, whole and in parts', async () => {
    const run = promisify(execFile)('node', [callsProgram, tinyChat, '200', '160'], { maxBuffer: 2 ** 25 });
    const answers: {
      schemas: JsonObject[];
      areSeveral: boolean;
      isCall: boolean;
      finishReason: string;
      text: string;
      calls: ToolCallPart[];
      parts: ToolCallPart[];
    }[] = JSON.parse((await run).stdout);
    const all = new Ajv({ strict: false, validateFormats: false, code: ajvCode });
    const called = new Set<string>();
    const wrong = [];
    for (const { schemas, areSeveral, isCall, finishReason, text, calls, parts } of answers) {
      const joined = calls.map(({ index, name }) => ({
        index,
        name,
        arguments: parts.flatMap((part) => (part.index === index ? [part.arguments] : [])).join(''),
      }));
      const complete = finishReason === 'stop' ? calls : calls.slice(0, -1);
      const areValid = complete.map(({ name, arguments: some }) => {
        const schema = schemas[Number(name?.slice('tool_'.length))] as JsonObject;
        called.add(JSON.stringify(schema));
        return all.validate(schema, JSON.parse(some));
      });
      const isRight = isCall === (finishReason === 'stop') && text === '' && (areSeveral || calls.length <= 1);
      if (!isRight || areValid.includes(false) || JSON.stringify(joined) !== JSON.stringify(calls))
        wrong.push({ schemas, finishReason, text, calls, joined });
    }
    expect(wrong).toEqual([]);
    expect([answers.length, called.size > 80]).toEqual([100, true]);
  });
});
