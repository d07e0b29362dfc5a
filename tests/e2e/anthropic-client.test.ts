import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { answering, chunk, completion, ScriptedEngine, speaking, streaming } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { type Member, readyProject, register } from '../support/workspace.js';

const question = { role: 'user' as const, content: 'What is the capital of France?' };
/** The same question, marked for the prefix cache. */
const marked = {
  role: 'user' as const,
  content: [{ type: 'text' as const, text: question.content, cache_control: { type: 'ephemeral' as const } }],
};
const answer = 'The capital of France is Paris.';
const weather = {
  name: 'weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};

let engine: ScriptedEngine;
let service: Service;
let admin: Member;
/** Names a project with the shipped model, and one with the scripted engine. */
let model: string;
let elsewhere: string;
let client: Anthropic;

beforeAll(async () => {
  engine = await ScriptedEngine.start();
  const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host, SERVICE_MODEL_BODY_MB: '1' };
  service = await Service.start({ env });
  admin = await register(service, 'Ada');
  model = await readyProject(service, admin.token);
  elsewhere = await readyProject(service, admin.token, { runtime: 'openai', base_url: engine.url, model: 'm' });
  client = new Anthropic({ baseURL: `${service.url}/openai`, apiKey: admin.apiKey, maxRetries: 0 });
});
afterEach(() => {
  engine.script = speaking();
});
afterAll(async () => {
  await service.stop();
  await engine.close();
});

const ask = (over: object = {}) => ({ model, max_tokens: 60, messages: [question], ...over });

describe('Anthropic’s library, unchanged but for its address and key,', () => {
  it('gets whole answers, streams and counts of the shipped model', async () => {
    const message = await client.messages.create(ask());
    expect(message).toMatchObject({ content: [{ type: 'text', text: answer }], stop_reason: 'end_turn', model });
    const { input_tokens } = await client.messages.countTokens({ model, messages: [question] });
    const { usage } = await client.messages.create(ask({ messages: [{ ...question }] }));
    expect(usage).toMatchObject({ input_tokens, cache_read_input_tokens: null });
    for (const cached of [ask({ cache_control: { type: 'ephemeral' } }), ask({ messages: [marked] })]) {
      const { usage: seen } = await client.messages.create(cached);
      expect(seen.cache_read_input_tokens).toBeGreaterThan(5);
      expect(seen.input_tokens + (seen.cache_read_input_tokens ?? 0)).toBe(input_tokens);
    }
    const texts: string[] = [];
    const stream = client.messages.stream(ask()).on('text', (text) => texts.push(text));
    expect(await stream.finalMessage()).toMatchObject({
      content: [{ type: 'text', text: answer }],
      stop_reason: 'end_turn',
      usage: { output_tokens: usage.output_tokens },
    });
    expect(texts.join('')).toBe(answer);
    expect(texts.length).toBeGreaterThan(1);
  });

  it('learns which stop text ended an answer, and that its length did', async () => {
    const stop_sequences = ['zzz', ' is'];
    const stopped = {
      content: [{ text: 'The capital of France' }],
      stop_reason: 'stop_sequence',
      stop_sequence: ' is',
    };
    expect(await client.messages.create(ask({ stop_sequences }))).toMatchObject(stopped);
    expect(await client.messages.stream(ask({ stop_sequences })).finalMessage()).toMatchObject(stopped);
    expect(await client.messages.create(ask({ max_tokens: 2 }))).toMatchObject({ stop_reason: 'max_tokens' });
  });

  it('continues a beginning of the answer', async () => {
    const messages = [question, { role: 'assistant' as const, content: 'The capital of France is' }];
    expect(await client.messages.create(ask({ messages }))).toMatchObject({ content: [{ text: ' Paris.' }] });
  });

  it('calls tools of an engine elsewhere, whole and streamed, and sees what it thinks', async () => {
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }];
    const message = { role: 'assistant', content: null, tool_calls: calls, reasoning_content: 'A tool.' };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    engine.script = answering(200, completion('m', null, { choices }));
    const params = ask({ model: elsewhere, tools: [weather], tool_choice: { type: 'any' } });
    const blocks = [
      { type: 'thinking', thinking: 'A tool.', signature: '' },
      { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Paris' } },
    ];
    const whole = await client.messages.create(params);
    expect(whole).toMatchObject({ stop_reason: 'tool_use', content: blocks });
    expect(engine.asked.at(-1)?.body).toMatchObject({ tool_choice: 'required', max_tokens: 60 });
    expect(engine.asked.at(-1)?.body).not.toHaveProperty('temperature');
    const part = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });
    engine.script = streaming(
      chunk('m', { role: 'assistant', reasoning_content: 'A tool.' }),
      chunk('m', part(0, { id: 'call_1', function: { name: 'weather', arguments: '{"city"' } })),
      chunk('m', part(0, { function: { arguments: ':"Paris"}' } })),
      chunk('m', {}, 'tool_calls'),
      '[DONE]',
    );
    expect(await client.messages.stream(params).finalMessage()).toMatchObject({
      stop_reason: 'tool_use',
      content: blocks,
    });
    engine.script = speaking('It is sunny.');
    const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: 'sunny' };
    const messages = [question, { role: 'assistant', content: whole.content }, { role: 'user', content: [result] }];
    const last = await client.messages.create(ask({ model: elsewhere, tools: [weather], messages }));
    expect(last).toMatchObject({ content: [{ text: 'It is sunny.' }], usage: { input_tokens: 7, output_tokens: 6 } });
    expect(engine.asked.at(-1)?.body.messages.slice(1)).toEqual([
      { role: 'assistant', content: null, tool_calls: calls, reasoning_content: 'A tool.' },
      { role: 'tool', content: 'sunny', tool_call_id: 'call_1' },
    ]);
  });

  it('gets errors of the classes that it knows', async () => {
    const { AuthenticationError, BadRequestError, NotFoundError, APIError } = Anthropic;
    const other = new Anthropic({ baseURL: `${service.url}/openai`, apiKey: 'sk-ant-nothing', maxRetries: 0 });
    await expect(other.messages.create(ask())).rejects.toBeInstanceOf(AuthenticationError);
    await expect(client.messages.create(ask({ max_tokens: 0 }))).rejects.toBeInstanceOf(BadRequestError);
    await expect(client.messages.create(ask({ model: 'x' }))).rejects.toBeInstanceOf(NotFoundError);
    const long = [{ role: 'user', content: 'x'.repeat(2 ** 20) }];
    await expect(client.messages.create(ask({ messages: long }))).rejects.toMatchObject({
      status: 413,
      type: 'request_too_large',
    });
    engine.script = answering(500, {});
    const failed = await client.messages.create(ask({ model: elsewhere })).catch((error) => error);
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({ status: 502, type: 'api_error', errorCode: 'runtime_invalid_response' });
    engine.script = answering(429, {}, { 'Retry-After': '3' });
    await expect(client.messages.create(ask({ model: elsewhere }))).rejects.toMatchObject({
      status: 429,
      type: 'rate_limit_error',
    });
    engine.script = streaming(chunk('m', { content: 'Hi' }), 'odd');
    const broken = client.messages.stream(ask({ model: elsewhere })).finalMessage();
    await expect(broken).rejects.toMatchObject({ type: 'api_error' });
  });
});

describe('OpenAI’s library', () => {
  const openai = () => new OpenAI({ baseURL: `${service.url}/openai/v1`, apiKey: admin.apiKey, maxRetries: 0 });
  const prompt = '<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n';

  it('completes texts by the shipped model, which sees the special tokens in them', async () => {
    const { completions } = openai();
    const whole = await completions.create({ model, prompt, logprobs: 2 });
    expect(whole.choices[0]).toMatchObject({ text: answer, finish_reason: 'stop' });
    const { tokens, text_offset, top_logprobs } = whole.choices[0]?.logprobs ?? {};
    expect(tokens?.join('')).toBe(answer);
    expect(text_offset?.slice(0, 2)).toEqual([0, tokens?.[0]?.length]);
    expect(Object.keys(top_logprobs?.[0] ?? {})).toHaveLength(2);
    let text = '';
    const stream = await completions.create({ model, prompt, stream: true, echo: true });
    for await (const { choices } of stream) text += choices[0]?.text ?? '';
    expect(text).toBe(prompt + answer);
    const two = await completions.create({ model, prompt: [prompt, prompt.replace('France', 'Italy')], max_tokens: 3 });
    expect(two.choices.map((one) => `${one.index} ${one.finish_reason}`)).toEqual(['0 length', '1 length']);
    await expect(completions.create({ model, prompt: [1, 2] })).rejects.toThrow(/send the text itself/);
  });

  it('gets several answers of the shipped model', async () => {
    const { completions } = openai().chat;
    const params = { model, messages: [question], n: 3, max_tokens: 12 };
    const alike = await completions.create(params);
    expect(alike.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(alike.choices.map(({ message }) => message.content))).toEqual(new Set([answer]));
    const one = await completions.create({ ...params, n: 1 });
    expect(alike.usage?.prompt_tokens).toBe(one.usage?.prompt_tokens);
    expect(alike.usage?.completion_tokens).toBe(3 * (one.usage?.completion_tokens ?? 0));
    // The model is unsure what to answer to this.
    const drawn = { ...params, messages: [{ ...question, content: 'x y z' }], temperature: 2, seed: 7, n: 4 };
    const texts = async (over: object = {}) =>
      (await completions.create({ ...drawn, ...over })).choices.map(({ message }) => message.content);
    const first = await texts();
    expect(new Set(first).size).toBe(4);
    expect(await texts()).toEqual(first);
    expect(await texts({ n: 2 })).toEqual(first.slice(0, 2));
    expect((await texts({ seed: 8 })).filter((text) => first.includes(text))).toEqual([]);
    const parts = ['', '', '', ''];
    const order: number[] = [];
    const ends: string[] = [];
    for await (const { choices } of await completions.create({ ...drawn, stream: true }))
      for (const { index, delta, finish_reason } of choices) {
        parts[index] += delta.content ?? '';
        if (delta.content) order.push(index);
        if (finish_reason) ends.push(`${index} ${finish_reason}`);
      }
    expect(parts).toEqual(first);
    expect(ends.sort().map((end) => end[0])).toEqual(['0', '1', '2', '3']);
    expect(order).not.toEqual([...order].sort()); // the answers come side by side
    await expect(completions.create({ ...params, n: 9 })).rejects.toMatchObject({ status: 400, param: 'n' });
  });
});
