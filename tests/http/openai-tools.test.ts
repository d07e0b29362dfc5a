import { ChatRuntimes } from '../../src/application/chat/ports.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { type AnswerWithCalls, MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { type Member, readyProject } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const completions = '/openai/v1/chat/completions';
const message = { role: 'user', content: 'What is the weather in Paris?' };
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { name: 'get_weather', description: 'Tells the weather.', parameters: city };
const tool = (about: object = {}) => ({ type: 'function', function: { ...weather, ...about } });
const calling: AnswerWithCalls = {
  text: '',
  toolCalls: [
    { id: 'call_1', name: 'get_weather', arguments: '{"city": "Paris"}' },
    { id: 'call_2', name: 'get_time', arguments: '{}' },
  ],
};
const callJson = ({ id, name, arguments: text }: AnswerWithCalls['toolCalls'][number]) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

interface Part {
  readonly index: number;
  readonly arguments: string;
  readonly function: { readonly arguments: string };
}
interface Chunk {
  readonly delta: { readonly tool_calls?: readonly Part[]; readonly function_call?: Part };
}

describe('tools at the OpenAI endpoint', () => {
  let app: TestApp;
  let admin: Member;
  let model: string;
  let asked: ChatRequest;
  let answer: string | AnswerWithCalls = calling;

  beforeAll(async () => {
    const answers = {
      answer: (request: ChatRequest) => {
        asked = request;
        return answer;
      },
    };
    ({ app, admin } = await TestApp.withTeam({
      adapt: (container) =>
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes({ 'tiny-chat': answers })),
    }));
    model = await readyProject(app, admin.token);
  });
  afterAll(() => app.stop());

  const chat = (over: object = {}, headers: Record<string, string> = {}) =>
    app.call('POST', completions, { token: admin.apiKey, json: { model, messages: [message], ...over }, headers });
  const chunks = async (over: object) => {
    const { body } = await chat({ stream: true, ...over });
    const events = body
      .trimEnd()
      .split('\n\n')
      .map((event: string) => event.slice('data: '.length));
    expect(events.pop()).toBe('[DONE]');
    return events.map((event: string): Chunk => JSON.parse(event).choices[0]);
  };

  it('reach the model with their choice, and with the place of each schema', async () => {
    const tools = [tool(), { type: 'function', function: { name: 'get_time', strict: null } }];
    const own = { ...weather, place: 'tools.0.function.parameters' };
    const time = { name: 'get_time', place: 'tools.1.function.parameters' };
    const named = (name: string) => ({ type: 'function', function: { name } });
    await chat({ tools, tool_choice: named('get_time'), parallel_tool_calls: false });
    expect(asked).toMatchObject({ tools: [own, time], toolChoice: { tool: 'get_time' }, parallelToolCalls: false });
    for (const choice of ['auto', 'none', 'required']) {
      await chat({ tools, tool_choice: choice, parallel_tool_calls: true });
      expect(asked).toMatchObject({ tools: [own, time], toolChoice: choice });
    }
    const allowed = { mode: 'required', tools: [named('get_time')] };
    await chat({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: allowed } });
    expect(asked).toMatchObject({ tools: [time], toolChoice: 'required' });
    expect(asked.tools).toHaveLength(1);
    for (const none of [[], null]) await chat({ tools: none, functions: none, tool_choice: null });
    expect(asked).not.toHaveProperty('toolChoice');
  });

  it('are answered with calls, whole', async () => {
    const { status, body } = await chat({ tools: [tool()] });
    expect(status).toBe(200);
    expect(body.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null, tool_calls: calling.toolCalls.map(callJson) },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ]);
  });

  it('are answered with calls in pieces: id and name come once, and the arguments join', async () => {
    const all = await chunks({ tools: [tool()] });
    const parts = all.flatMap(({ delta }: Chunk) => delta.tool_calls ?? []);
    for (const [index, call] of calling.toolCalls.entries()) {
      const own = parts.filter((part: Part) => part.index === index);
      expect(own[0]).toEqual({ index, ...callJson({ ...call, arguments: '' }) });
      for (const part of own.slice(1)) expect(Object.keys(part.function)).toEqual(['arguments']);
      expect(own.map((part: Part) => part.function.arguments).join('')).toBe(call.arguments);
    }
    expect(all.at(-1)).toMatchObject({ delta: {}, finish_reason: 'tool_calls' });
  });

  it('may be functions, as in older programs', async () => {
    answer = { text: '', toolCalls: calling.toolCalls.slice(0, 1) };
    const functions = [weather];
    const called = { name: 'get_weather', arguments: '{"city": "Paris"}' };
    const messages = [
      message,
      { role: 'assistant', content: null, function_call: called },
      { role: 'function', name: 'get_weather', content: 'sunny' },
    ];
    const { body } = await chat({ messages, functions, function_call: { name: 'get_weather' } });
    expect(asked).toMatchObject({
      messages: [
        message,
        { role: 'assistant', toolCalls: [{ id: 'call_get_weather', ...called }] },
        { role: 'tool', name: 'get_weather', toolCallId: 'call_get_weather', content: 'sunny' },
      ],
      tools: [{ ...weather, place: 'functions.0.parameters' }],
      toolChoice: { tool: 'get_weather' },
      parallelToolCalls: false,
    });
    const [choice] = body.choices;
    expect(choice).toMatchObject({ message: { content: null, function_call: called }, finish_reason: 'function_call' });
    expect(choice.message).not.toHaveProperty('tool_calls');
    const all = await chunks({ functions });
    const parts = all.flatMap(({ delta }: Chunk) => delta.function_call ?? []);
    expect(parts[0]).toEqual({ name: 'get_weather', arguments: '' });
    expect(parts.map((part: Part) => part.arguments).join('')).toBe(called.arguments);
    expect(all.at(-1)).toMatchObject({ finish_reason: 'function_call' });
    answer = calling;
  });

  it('leave a text in the conversation: the calls, and the result', async () => {
    answer = calling;
    const first = await chat({ tools: [tool()] }, { 'X-Conversation-Id': 'new' });
    const id = first.headers.get('x-conversation-id') as string;
    answer = 'It is sunny.';
    const calls = calling.toolCalls.map(callJson);
    const result = { role: 'tool', tool_call_id: 'call_1', content: 'sunny' };
    const messages = [message, { role: 'assistant', content: 'Let me see.', tool_calls: calls }, result];
    await chat({ messages, tools: [tool()] }, { 'X-Conversation-Id': id });
    const again = await chat({ messages, tools: [tool()] }, { 'X-Conversation-Id': 'new' });
    answer = calling;
    const stored = async (conversation: string) => {
      const { body } = await app.get(`/v1/projects/${model}/conversations/${conversation}`, admin.token);
      return body.messages.map(({ role, content }: typeof message) => `${role}: ${content}`);
    };
    const called = '[call_1: get_weather({"city": "Paris"})]\n[call_2: get_time({})]';
    const end = ['tool: sunny', 'assistant: It is sunny.'];
    expect(await stored(id)).toEqual([`user: ${message.content}`, `assistant: ${called}`, ...end]);
    expect(await stored(again.headers.get('x-conversation-id') as string)).toEqual([
      `user: ${message.content}`,
      `assistant: Let me see.\n${called}`,
      ...end,
    ]);
    const streamed = await chat({ tools: [tool()], stream: true }, { 'X-Conversation-Id': 'new' });
    const [, ...turn] = await stored(streamed.headers.get('x-conversation-id') as string);
    expect(turn).toEqual([`assistant: ${called}`]);
  });

  const many = Array.from({ length: 129 }, (_, i) => tool({ name: `f${i}` }));
  const long = { type: 'object', title: 'x'.repeat(60_000) };
  it.each<[string, object]>([
    ['tools', { tools: {} }],
    ['tools', { tools: many }],
    ['tools', { tools: [tool({ parameters: long }), tool({ name: 'g', parameters: long })] }],
    ['tools[0].type', { tools: [{ type: 'custom', custom: {} }] }],
    ['tools[0].function', { tools: [{ type: 'function' }] }],
    ['tools[0].function.name', { tools: [tool({ name: 'get weather' })] }],
    ['tools[0].function.name', { tools: [tool({ name: 'x'.repeat(65) })] }],
    ['tools[1].function.name', { tools: [tool(), tool()] }],
    ['tools[0].function.parameters', { tools: [tool({ parameters: 'none' })] }],
    ['tools[0].function.description', { tools: [tool({ description: 7 })] }],
    ['tool_choice', { tools: [tool()], tool_choice: 'any' }],
    ['tool_choice', { tools: [tool()], tool_choice: { type: 'function', function: { name: 'g' } } }],
    ['tool_choice', { tool_choice: 'auto' }],
    ['tool_choice', { tool_choice: 'required', tools: [] }],
    ['parallel_tool_calls', { tools: [tool()], parallel_tool_calls: 'no' }],
    ['functions', { tools: [tool()], functions: [weather] }],
    ['functions[0].name', { functions: [{ ...weather, name: '' }] }],
    ['function_call', { functions: [weather], function_call: 'required' }],
    ['function_call', { functions: [weather], function_call: { name: 'g' } }],
    ['function_call', { function_call: 'auto' }],
    ['messages[1].tool_calls[0].function', { messages: [message, { role: 'assistant', tool_calls: [{ id: 'a' }] }] }],
    ['messages[1].name', { messages: [message, { role: 'function', content: 'x' }] }],
  ])('are refused with the wrong field %s (%#)', async (param, over) => {
    const { status, body } = await chat(over);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', param]);
    expect(body.error.message).not.toContain('Invalid input');
  });

  it('are refused with a field that nobody documents', async () => {
    const { body } = await chat({ tools: [{ ...tool(), extra: 1 }] });
    expect(body.error).toMatchObject({ code: 'unknown_parameter', param: 'tools[0].extra' });
  });
});
