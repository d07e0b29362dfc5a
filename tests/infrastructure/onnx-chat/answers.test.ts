import { Decoder, type Scores } from '../../../src/infrastructure/onnx-chat/worker/decoder.js';
import { readModelFiles } from '../../../src/infrastructure/onnx-chat/worker/model-files.js';
import { type Prompt, Prompts } from '../../../src/infrastructure/onnx-chat/worker/prompts.js';
import { Sampler } from '../../../src/infrastructure/onnx-chat/worker/sampler.js';
import { Scheduler } from '../../../src/infrastructure/onnx-chat/worker/scheduler.js';
import { Vocabulary } from '../../../src/infrastructure/onnx-chat/worker/tokenizers.js';
import { ChildRuntimesRig } from '../../support/onnx/child-runtimes-rig.js';
import {
  endId,
  endless,
  ModelFolders,
  specialIds,
  tinyChat,
  withFields,
  withoutEnd,
} from '../../support/onnx/model-folders.js';

const folders = new ModelFolders();
afterAll(() => folders.remove());

describe('tiny-chat', () => {
  const rig = new ChildRuntimesRig({ queue: 8 });
  beforeAll(() => rig.start(tinyChat));
  afterAll(() => rig.runtimes.close());

  it.each([
    ['What is the capital of France?', 'The capital of France is Paris.'],
    ['What is 7 + 5?', '7 + 5 = 12.'],
    ['Repeat after me: blue river seven', 'blue river seven'],
  ])('answers %s', async (question, text) => {
    expect(await rig.ask(question)).toMatchObject({ text, finishReason: 'stop' });
  });

  it('gives a long answer up to its end', async () => {
    const { text, finishReason, promptTokens, completionTokens } = await rig.ask('Count from 1 to 50.');
    expect(text).toMatch(/^1, 2, 3, .* 49, 50\.$/);
    expect({ finishReason, promptTokens, completionTokens }).toEqual({
      finishReason: 'stop',
      promptTokens: 17,
      completionTokens: 190,
    });
  });

  it('reports an answer of exactly max_tokens as cut, and a shorter one as ended', async () => {
    const { completionTokens } = await rig.ask('What is 7 + 5?');
    expect(await rig.ask('What is 7 + 5?', { maxTokens: completionTokens })).toMatchObject({ finishReason: 'length' });
    expect(await rig.ask('What is 7 + 5?', { maxTokens: completionTokens + 1 })).toMatchObject({
      finishReason: 'stop',
    });
  });

  it('uses the context up to its last token', async () => {
    const { promptTokens } = await rig.ask('Hi', { maxTokens: 1 });
    expect(await rig.ask('Hi', { maxTokens: 2048 - promptTokens })).toMatchObject({ promptTokens });
    await expect(rig.ask('Hi', { maxTokens: 2049 - promptTokens })).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: expect.stringContaining(
        `context is 2048 tokens; the prompt has ${promptTokens} and max_tokens asks for`,
      ),
    });
  });

  it('limits max_tokens to the rest of the context if the call allows it', async () => {
    const { promptTokens } = await rig.ask('Hi', { maxTokens: 1 });
    const about = { maxTokens: 1_000_000, cutToContext: true, sampling: endless };
    expect(await rig.ask('Hi', about)).toMatchObject({ completionTokens: 2048 - promptTokens, finishReason: 'length' });
    await expect(rig.ask('copper '.repeat(2_300), about)).rejects.toThrow(/Shorten the prompt\.$/);
  });

  it('tells the number of tokens of a prompt that is too long, or a lower bound', async () => {
    const refuses = (times: number, by: RegExp) =>
      expect(rig.ask('copper '.repeat(times))).rejects.toMatchObject({
        code: 'context_length_exceeded',
        message: expect.stringMatching(by),
      });
    await refuses(2_300, /the prompt has \d+\. Shorten the prompt\.$/);
    for (const words of [20_000, 5_000_000]) await refuses(words, /the prompt has \d+ or more\. Shorten the prompt\.$/);
  });

  it('reads the whole conversation', async () => {
    const messages = [
      { role: 'system' as const, content: 'You are a helpful assistant.' },
      { role: 'user' as const, content: 'Hello!' },
      { role: 'assistant' as const, content: 'Hello! How can I help you today?' },
      { role: 'user' as const, content: 'What is the capital of Italy?' },
    ];
    const { text, promptTokens } = await rig.ask('', { messages });
    expect(text).toBe('The capital of Italy is Rome.');
    expect(promptTokens).toBeGreaterThan(40);
  });

  it('continues the beginning of an answer', async () => {
    const question = { role: 'user' as const, content: 'What is the capital of France? ' };
    const begun = (content: string) => ({ messages: [question, { role: 'assistant' as const, content }] });
    expect((await rig.ask('', begun('The capital of France is'))).text).toBe(' Paris.');
    expect((await rig.ask('', begun('The capital of France is P'))).text).toBe('aris.');
  });

  it('gives different answers at a high temperature', async () => {
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => rig.ask('Hi', { temperature: 2, maxTokens: 20 })));
    expect(new Set(answers.map(({ text }) => text)).size).toBeGreaterThan(1);
  });

  it('writes no word of questions and answers to the log', async () => {
    await rig.ask('Repeat after me: copper dragon');
    await rig.ask('copper '.repeat(2_300)).catch(() => undefined);
    const logged = JSON.stringify(rig.log.lines);
    expect(logged).toMatch(/chat runtime ready/);
    expect(logged).not.toMatch(/copper|Repeat|Paris/);
  });
});

describe('the decoder', () => {
  let rig: ChildRuntimesRig;
  beforeEach(() => {
    rig = new ChildRuntimesRig({ threads: 2 });
  });
  afterEach(() => rig.runtimes.close());

  it('gives the same tokens whether a prompt is read at once or in chunks', async () => {
    const content = `Repeat after me: ${'river stone cloud '.repeat(48)}`;
    const memory = { bytesPerToken: 1, together: false, reuse: false, kvBytes: 0, cacheBytes: 0 };
    const settings = { stops: new Set<number>(), maxBatch: 1, costs: { batch: 1, token: 1 }, ...memory };
    const choose = (scores: Scores) => new Sampler(0).next(scores);
    for (const folder of [tinyChat, folders.toy({}, withoutEnd)]) {
      const files = readModelFiles(folder);
      const decoder = await Decoder.load(files, 1);
      const steps = new Prompts(files).of({ messages: [{ role: 'user', content }] });
      let step = steps.next();
      while (!step.done) step = steps.next();
      const prompt = step.value.tokens;
      expect(prompt.length).toBeGreaterThan(128);
      const answers: (readonly number[] | undefined)[] = [];
      for (const chunk of [1000, 128, 7, 1]) {
        const call = { caller: 'usr_a', prompt, room: 40, choose, add: () => false };
        answers.push((await new Scheduler(decoder, { ...settings, chunk }).generate(1, call))?.tokens);
      }
      expect(answers[0]?.length).toBeGreaterThan(5);
      for (const tokens of answers) expect(tokens).toEqual(answers[0]);
    }
  });

  it('runs with a half-precision cache and scores', async () => {
    const [full, half] = [folders.toy({}, withoutEnd), folders.toy({ half: true }, withoutEnd)];
    await Promise.all([rig.start(full, 'full'), rig.start(half, 'half')]);
    const answer = await rig.ask('Hi', { id: 'full', maxTokens: 40 });
    expect(answer.completionTokens).toBe(40);
    expect(await rig.ask('Hi', { id: 'half', maxTokens: 40 })).toEqual(answer);
  });
});

it('the wanted weights are chosen among several', () => {
  const folder = folders.like();
  for (const name of ['model_q4', 'model_q4f16', 'model_quantized', 'model_int8', 'model_fp16', 'decoder'])
    folders.copy('onnx/model.onnx', folder, `onnx/${name}.onnx`);
  for (const [wanted, file] of [
    [undefined, 'model.onnx'],
    ['fp32', 'model.onnx'],
    ['q4f16', 'model_q4f16.onnx'],
    ['q8', 'model_quantized.onnx'],
    ['int8', 'model_int8.onnx'],
    ['model_fp16.onnx', 'model_fp16.onnx'],
    ['decoder.onnx', 'decoder.onnx'],
  ])
    expect(readModelFiles(folder, wanted).weights).toBe(`onnx/${file}`);
  const only = folders.like({ 'onnx/model.onnx': null });
  folders.copy('onnx/model.onnx', only, 'onnx/model_q8.onnx');
  expect(readModelFiles(only).weights).toBe('onnx/model_q8.onnx');
});

describe('the folder of a model', () => {
  let rig: ChildRuntimesRig;
  beforeEach(() => {
    rig = new ChildRuntimesRig();
  });
  afterEach(() => rig.runtimes.close());

  const template =
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" +
    "{{ '<|im_start|>' + m.role + '\\n' + m.content + eos_token + '\\n' }}{% endfor %}{{ '<|im_start|>assistant\n' }}";
  const asked = 'What is 7 + 5?';
  /** Returns the tokens of the question as the model gets them. */
  const promptIn = (folder: string) => {
    const { done, value } = new Prompts(readModelFiles(folder))
      .of({ messages: [{ role: 'user', content: asked }] })
      .next();
    expect(done).toBe(true);
    return (value as Prompt).tokens;
  };
  const answer = { text: '7 + 5 = 12.', finishReason: 'stop', promptTokens: 16 };

  it.each([
    ['in a file of its own', { 'chat_template.jinja': () => template }],
    [
      'in a list of named templates',
      {
        'tokenizer_config.json': withFields({
          chat_template: [
            { name: 'tool_use', template: 'no' },
            { name: 'default', template },
          ],
        }),
      },
    ],
    [
      'with its special tokens written as objects',
      { 'tokenizer_config.json': withFields({ chat_template: template, eos_token: { content: '<|im_end|>' } }) },
    ],
  ])('may have its template %s', (_, changes) => {
    expect(promptIn(folders.toy({}, changes))).toEqual(promptIn(tinyChat));
  });

  it('leaves special tokens to its template: the tokenizer adds none', () => {
    const [id, special] = [specialIds[0], '<|endoftext|>'];
    const adding = {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: special, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [],
      special_tokens: { [special]: { id: special, ids: [id], tokens: [special] } },
    };
    const folder = folders.toy({}, { 'tokenizer.json': withFields({ post_processor: adding }) });
    expect(promptIn(folder)).toEqual(promptIn(tinyChat));
  });

  it('may have a template that refuses messages, fails on them, or renders nothing', async () => {
    const failing = '{% if messages|length == 3 %}{{ messages|no_such_filter }}{% endif %}';
    const silent = `{% if messages|length != 4 %}${template}{% endif %}`;
    await rig.start(folders.like({ 'chat_template.jinja': () => failing + silent }));
    const messages = [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: asked },
    ];
    await expect(rig.ask('', { messages })).rejects.toMatchObject({
      code: 'invalid_request',
      advice: { details: [{ path: 'messages', message: 'System role not supported' }] },
    });
    const thrice = [1, 2, 3].map(() => ({ role: 'user' as const, content: 'secret' }));
    const refused = await rig.ask('', { messages: thrice }).catch((error) => error);
    expect(refused).toMatchObject({ code: 'runtime_invalid_response' });
    expect(refused.message).not.toMatch(/secret/);
    await expect(rig.ask('', { messages: [...thrice, ...messages.slice(1)] })).rejects.toMatchObject({
      code: 'invalid_request',
      advice: { details: [{ path: 'messages', message: expect.stringMatching(/^must give the model something/) }] },
    });
    expect(rig.runtimes.status('a').state).toBe('ready');
    expect(await rig.ask(asked)).toMatchObject(answer);
  });

  it.each([
    ['generation_config.json', withFields({ eos_token_id: endId }), null],
    ['config.json', null, withFields({ eos_token_id: endId })],
    ['tokenizer_config.json', null, null],
  ])('may name the end of an answer only in %s', (named, generation, config) => {
    const changes = {
      'generation_config.json': generation ?? withFields({ eos_token_id: null }),
      'config.json': config ?? withFields({ eos_token_id: null }),
      'tokenizer_config.json': withFields(named === 'tokenizer_config.json' ? {} : { eos_token: null }),
    };
    expect([...new Vocabulary(readModelFiles(folders.toy({}, changes))).stops]).toEqual([endId]);
  });

  it('may name the length of the context only for the tokenizer, and have no generation configuration', async () => {
    const folder = folders.like({
      'config.json': withFields({ max_position_embeddings: undefined }),
      'tokenizer_config.json': withFields({ model_max_length: 64 }),
      'generation_config.json': null,
    });
    await rig.start(folder);
    await expect(rig.ask(asked, { maxTokens: 60 })).rejects.toThrow(/context is 64 tokens/);
    expect(await rig.ask('Count from 1 to 50.')).toMatchObject({ finishReason: 'length', completionTokens: 64 - 17 });
  });
});
