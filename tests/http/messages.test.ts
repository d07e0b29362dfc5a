import { ChatRuntimes } from '../../src/application/chat/ports.js';
import type { ChatRequest, CompletionPart } from '../../src/domain/chat/chat.js';
import { UnsupportedParameter } from '../../src/domain/chat/errors.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { masterKey } from '../support/monitoring.js';
import { createProject, type Member, readyProject, registeredModel } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const messages = '/openai/v1/messages';
const count = `${messages}/count_tokens`;
const question = { role: 'user', content: 'Hi' };
const weather = { name: 'weather', description: 'Tells it.', input_schema: { type: 'object' } };
const usage = { promptTokens: 9, cachedTokens: 4, completionTokens: 5 };

describe('the Messages endpoint', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  /** Names a project with a ready runtime. */
  let ready: string;
  let asked: ChatRequest;
  let parts: CompletionPart[] = [];
  const answer = (request: ChatRequest) => {
    asked = request;
    if (request.messages.at(-1)?.content === 'refuse')
      throw new UnsupportedParameter('response_format.json_schema.schema.type', 'is odd');
    return 'Hello there';
  };
  async function* stream(request: ChatRequest) {
    asked = request;
    yield* parts;
    if (!parts.at(-1)?.end) throw new UnsupportedParameter('stop', 'is odd');
  }

  beforeAll(async () => {
    ({ app, admin, member, stranger } = await TestApp.withTeam({
      env: { SERVICE_MASTER_KEY: masterKey, SERVICE_MODEL_BODY_MB: '1' },
      adapt: (container) =>
        container
          .rebind(ChatRuntimes)
          .toConstantValue(new MemoryChatRuntimes({ 'tiny-chat': { answer, parts: (request) => stream(request) } })),
    }));
    ready = await readyProject(app, admin.token);
  });
  afterAll(() => app.stop());

  const send = (over: object = {}, token: string | undefined = admin.apiKey) =>
    app.post(messages, token, { model: ready, max_tokens: 50, messages: [question], ...over });
  const sent = async (over: object) => {
    expect(statusAndCode(await send(over))).toBe('200 undefined');
    return asked;
  };

  it('answers as Anthropic does', async () => {
    const { status, body, headers } = await send();
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        role: 'assistant',
        model: ready,
        content: [{ type: 'text', text: 'Hello there' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: {
          input_tokens: 1,
          cache_creation_input_tokens: null,
          cache_read_input_tokens: null,
          output_tokens: 2,
        },
      },
    });
    expect(headers.get('x-ratelimit-limit-requests')).not.toBeNull();
    expect(await sent({ max_tokens: 1 })).toEqual({
      messages: [question],
      maxTokens: 1,
      cutToContext: true,
      temperature: null,
    });
    expect((await send({ max_tokens: 1 })).body).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ text: 'Hello' }],
    });
  });

  it('takes the key in either header, and only here in x-api-key', async () => {
    const json = { model: ready, max_tokens: 5, messages: [question] };
    const call = (path: string, headers: Record<string, string>) => app.call('POST', path, { json, headers });
    for (const key of [member.apiKey, member.token]) {
      expect((await call(messages, { 'x-api-key': key })).status).toBe(200);
      expect((await call(messages, { authorization: `Bearer ${key}`, 'x-api-key': 'other' })).status).toBe(200);
    }
    const mistyped = member.apiKey.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    for (const key of [mistyped, 'sk-ant-1', ''])
      expect(statusAndCode(await call(messages, { 'x-api-key': key }))).toBe('401 unauthenticated');
    expect(statusAndCode(await call(messages, { 'x-api-key': masterKey }))).toBe('401 session_required');
    const elsewhere = ['/openai/v1/chat/completions', '/openai/v1/models', '/v1/projects', '/openai/v1/messagesx'];
    for (const path of elsewhere)
      expect(statusAndCode(await call(path, { 'x-api-key': member.apiKey }))).toMatch(/^40[145] (unauth|method|not_f)/);
  });

  it('translates system, blocks, tools and sampling', async () => {
    const text = (one: string) => ({ type: 'text', text: one, cache_control: { type: 'ephemeral' } });
    const request = await sent({
      system: [text('Be '), text('brief.')],
      messages: [
        question,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'A tool.', signature: 'x' },
            { type: 'redacted_thinking', data: 'y' },
            text('I look.'),
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [text('Sunny')], is_error: false },
            { type: 'tool_result', tool_use_id: 'toolu_2' },
            { type: 'tool_result', tool_use_id: 'toolu_3', content: 'No such city', is_error: true },
            text('And this?'),
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'weather', input: {} }] },
        { role: 'system', content: 'Now.' },
        { role: 'user', content: [] },
      ],
      tools: [
        { type: 'web_search_20250305', name: 'web_search' },
        { ...weather, strict: true },
      ],
      tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
      stop_sequences: ['END', 'STOP'],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 7,
      metadata: { user_id: 'u1' },
      thinking: { type: 'enabled', budget_tokens: 5_000 },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      guided_regex: 'a+',
      service_tier: 'auto',
    });
    expect(request).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.', parts: [{ text: 'Be ' }, { text: 'brief.' }] },
        question,
        {
          role: 'assistant',
          content: 'I look.',
          toolCalls: [{ id: 'toolu_1', name: 'weather', arguments: '{"city":"Paris"}' }],
          reasoning: 'A tool.',
        },
        { role: 'tool', content: 'Sunny', toolCallId: 'toolu_1' },
        { role: 'tool', content: '', toolCallId: 'toolu_2' },
        { role: 'tool', content: 'Error: No such city', toolCallId: 'toolu_3' },
        {
          role: 'user',
          content: 'And this?',
          parts: [
            { text: 'And this?' },
            { imageUrl: 'data:image/png;base64,aGk=' },
            { imageUrl: 'https://example.com/a.png' },
          ],
        },
        { role: 'assistant', content: '', parts: [], toolCalls: [{ id: 'a', name: 'weather', arguments: '{}' }] },
        { role: 'system', content: 'Now.' },
        { role: 'user', content: '' },
      ],
      maxTokens: 50,
      cutToContext: true,
      temperature: 0.5,
      tools: [
        {
          ...{ name: 'weather', description: 'Tells it.', parameters: { type: 'object' }, strict: true },
          place: 'tools.1.input_schema',
        },
      ],
      toolChoice: { tool: 'weather' },
      parallelToolCalls: false,
      reasoningEffort: 'medium',
      sampling: { topP: 0.9, topK: 7, stop: ['END', 'STOP'] },
      responseFormat: {
        ...{ json: 'schema', name: 'answer', schema: { type: 'object' }, strict: true },
        place: 'output_config.format.schema',
      },
      passedOn: { user: 'u1' },
      unknown: { guided_regex: 'a+' },
    });
  });

  it.each([
    [{ tools: [weather], tool_choice: { type: 'any' } }, { toolChoice: 'required' }],
    [{ tools: [weather], tool_choice: { type: 'auto' } }, { toolChoice: 'auto' }],
    [{ tools: [weather], tool_choice: { type: 'none' } }, { toolChoice: 'none' }],
    [{ tool_choice: { type: 'auto' } }, { toolChoice: undefined }],
    [{ thinking: { type: 'disabled' } }, { reasoningEffort: undefined }],
    [{ thinking: { type: 'adaptive' } }, { reasoningEffort: 'high' }],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, { reasoningEffort: 'low' }],
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 } }, { reasoningEffort: 'low' }],
    [{ thinking: { type: 'enabled', budget_tokens: 32_000 } }, { reasoningEffort: 'high' }],
    [
      { system: '', stop_sequences: [], top_k: 0, temperature: null },
      { messages: [question], sampling: undefined },
    ],
  ])('translates %j', async (over, expected) => {
    const { tools: _, ...request } = await sent(over);
    expect(request).toEqual({
      messages: [question],
      maxTokens: 50,
      cutToContext: true,
      temperature: null,
      ...expected,
    });
  });

  it.each<[object, string, string]>([
    [{ max_tokens: undefined }, '400 invalid_request', 'max_tokens: '],
    [{ max_tokens: 0 }, '400 invalid_request', 'max_tokens: '],
    [{ messages: [] }, '400 invalid_request', 'messages: must be an array'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, '400 invalid_request', 'messages.0.role: '],
    [{ messages: [{ role: 'user' }] }, '400 invalid_request', 'messages.0.content: is required'],
    [{ messages: [{ role: 'user', content: [{ type: 'document' }] }] }, '400 invalid_request', 'messages.0.content.0'],
    [
      { messages: [{ role: 'assistant', content: [{ type: 'tool_result', tool_use_id: 'a' }] }] },
      '400 invalid_request',
      'messages.0.content.0: must not have the type tool_result for the role assistant',
    ],
    [{ temperature: 3 }, '400 invalid_request', 'temperature: '],
    [{ stop_sequences: [''] }, '400 invalid_request', 'stop_sequences.0: '],
    [{ tools: [{ name: 'a' }] }, '400 invalid_request', 'tools.0.input_schema: is required'],
    [{ tool_choice: { type: 'any' } }, '400 invalid_request', 'tool_choice: is only'],
    [{ tools: [weather], tool_choice: { type: 'tool', name: 'x' } }, '400 invalid_request', 'tool_choice.name: '],
    [{ mcp_servers: [{ name: 'a' }] }, '400 unsupported_parameter', 'mcp_servers '],
    [
      { messages: [{ role: 'user', content: 'refuse' }] },
      '400 unsupported_parameter',
      'output_config.format.schema.type is odd',
    ],
    [{ model: 'nothing' }, '404 not_found', 'model must be'],
  ])('refuses %j', async (over, expected, message) => {
    const refused = await send(over);
    expect(statusAndCode(refused)).toBe(expected);
    expect(refused.body.error.message).toContain(message);
    const types: Record<string, string> = { 400: 'invalid_request_error', 404: 'not_found_error' };
    expect(refused.body).toEqual({
      type: 'error',
      error: { type: types[refused.status], message: expect.any(String), details: expect.anything() },
      request_id: refused.headers.get('x-request-id'),
    });
  });

  it('refuses a thread as Anthropic’s library expects it', async () => {
    for (const path of [messages, count]) {
      const { status, body } = await app.post(path, admin.apiKey, { thread: { type: 'create' } });
      expect({ status, error: body.error }).toEqual({
        status: 400,
        error: {
          type: 'invalid_request_error',
          message: expect.stringMatching(/^thread is not supported/),
          details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
        },
      });
    }
    expect((await send({ thread: null })).status).toBe(200);
  });

  it('refuses in Anthropic’s form wherever the refusal comes from', async () => {
    const raw = (body: string, headers = {}) => app.call('POST', messages, { token: admin.apiKey, raw: body, headers });
    const bare = await createProject(app, admin.token);
    const stopped = await createProject(app, admin.token);
    const model = await registeredModel(app, admin.token, stopped);
    await app.put(`/v1/projects/${stopped}/runtime`, admin.token, { model_id: model });
    const refusals = [
      [await app.get(messages, admin.apiKey), '405 method_not_allowed', 'invalid_request_error'],
      [await app.get(`${messages}/batches`, admin.apiKey), '404 not_found', 'not_found_error'],
      [await raw('{"model":'), '400 malformed_json', 'invalid_request_error'],
      [await raw('x', { 'content-type': 'text/plain' }), '415 unsupported_media_type', 'invalid_request_error'],
      [await raw(JSON.stringify({ x: 'x'.repeat(2 ** 20) })), '413 payload_too_large', 'request_too_large'],
      [await send({}, stranger.apiKey), '404 not_found', 'not_found_error'],
      [await send({ model: bare }), '503 runtime_not_connected', 'overloaded_error'],
      [await send({ model: stopped }), '503 runtime_stopped', 'overloaded_error'],
      [await app.post(messages, 'nonsense', {}), '401 unauthenticated', 'authentication_error'],
    ] as const;
    for (const [refused, expected, type] of refusals) {
      expect(statusAndCode(refused)).toBe(expected);
      const { body } = refused;
      expect(body).toMatchObject({ type: 'error', error: { type }, request_id: expect.stringMatching(/^req_/) });
      expect(Object.keys(body)).toEqual(['type', 'error', 'request_id']);
    }
  });

  it('counts the tokens of a prompt, and creates no job', async () => {
    const body = { model: ready, messages: [{ role: 'user', content: 'one two three' }], system: 'four' };
    const jobs = async () => (await app.get('/v1/jobs', admin.token)).body.count;
    const before = await jobs();
    expect((await app.post(count, admin.apiKey, body)).body).toEqual({ input_tokens: 4 });
    expect(await jobs()).toBe(before);
    expect(statusAndCode(await app.post(count, admin.apiKey, { ...body, model: 'x' }))).toBe('404 not_found');
    expect(statusAndCode(await app.post(count, undefined, body))).toBe('401 unauthenticated');
  });

  const events = (text: string) =>
    text
      .trimEnd()
      .split('\n\n')
      .map((event) => {
        const [, type, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
        const json = JSON.parse(data as string);
        expect(json.type).toBe(type);
        return json;
      });

  it('streams the events in the published order', async () => {
    parts = [
      { text: '', reasoning: 'I ' },
      { text: '', reasoning: 'think.' },
      { text: 'Hel' },
      { text: 'lo' },
      { text: '', toolCalls: [{ index: 0, id: 'call_1', name: 'weather', arguments: '' }] },
      { text: '', toolCalls: [{ index: 0, arguments: '{"city":' }] },
      {
        text: '',
        toolCalls: [
          { index: 0, arguments: '"Paris"}' },
          { index: 1, id: 'call_2', name: 'b', arguments: '{}' },
        ],
      },
      { text: '', end: { finishReason: 'tool_calls', usage } },
    ];
    const { status, body, headers } = await send({
      stream: true,
      tools: [{ ...weather, cache_control: { type: 'ephemeral' } }],
    });
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/event-stream; charset=utf-8',
    });
    const zeros = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
    const message = {
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: ready,
      content: [],
    };
    const begin = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
    const delta = (index: number, one: object) => ({ type: 'content_block_delta', index, delta: one });
    const stop = (index: number) => ({ type: 'content_block_stop', index });
    expect(events(body)).toEqual([
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage: zeros } },
      { type: 'ping' },
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'I ' }),
      delta(0, { type: 'thinking_delta', thinking: 'think.' }),
      stop(0),
      begin(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'Hel' }),
      delta(1, { type: 'text_delta', text: 'lo' }),
      stop(1),
      begin(2, { type: 'tool_use', id: 'call_1', name: 'weather', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"city":' }),
      delta(2, { type: 'input_json_delta', partial_json: '"Paris"}' }),
      stop(2),
      begin(3, { type: 'tool_use', id: 'call_2', name: 'b', input: {} }),
      delta(3, { type: 'input_json_delta', partial_json: '{}' }),
      stop(3),
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 5 },
      },
      { type: 'message_stop' },
    ]);
  });

  it('tells which stop text ended a stream, and reports a failure as an event', async () => {
    parts = [{ text: 'a' }, { text: '', end: { finishReason: 'stop', stopText: 'END', usage: null } }];
    const stopped = events((await send({ stream: true, stop_sequences: ['END'] })).body);
    expect(stopped.at(-2)).toMatchObject({ delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' } });
    parts = [{ text: 'a' }];
    expect(events((await send({ stream: true })).body).at(-1)).toEqual({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'stop_sequences is odd',
        details: { error_code: 'unsupported_parameter' },
      },
      request_id: expect.stringMatching(/^req_/),
    });
    parts = [];
    expect(statusAndCode(await send({ stream: true }))).toBe('400 unsupported_parameter');
  });
});
