import { ChatRuntimes } from '../../src/application/chat/ports.js';
import type { ChatRequest, CompletionPart } from '../../src/domain/chat/chat.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { createProject, type Member, readyProject } from '../support/workspace.js';
import { eventsOf } from './support/events.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const responses = '/openai/v1/responses';
const usage = { promptTokens: 7, cachedTokens: 2, completionTokens: 5, reasoningTokens: 3 };
const weather = { type: 'function', name: 'get_weather', parameters: { type: 'object' } };
const noneOf = { type: 'allowed_tools', mode: 'required', tools: [] };
const image = { type: 'input_image', image_url: 'data:x', detail: 7 };
const unknown = 'resp_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

describe('the Responses API', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  /** Names a project with a ready runtime. */
  let ready: string;
  /** Names such a project of another team. */
  let strangers: string;
  let asked: ChatRequest;
  let parts: (request: ChatRequest) => AsyncIterable<CompletionPart>;
  /** Makes the whole answers. */
  let answer: (request: ChatRequest) => string;

  beforeAll(async () => {
    const noted = (request: ChatRequest) => {
      asked = request;
      return request;
    };
    const model = { answer: (one: ChatRequest) => answer(noted(one)), parts: (one: ChatRequest) => parts(noted(one)) };
    ({ app, admin, member, stranger } = await TestApp.withTeam({
      adapt: (container) =>
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes({ 'tiny-chat': model })),
    }));
    ready = await readyProject(app, admin.token);
    strangers = await readyProject(app, stranger.token);
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    answer = () => 'Hello there';
    parts = async function* () {
      yield { text: 'Hello' };
      yield { text: ' there' };
      yield { text: '', end: { finishReason: 'stop', usage } };
    };
  });

  const create = (over: object = {}, token = admin.apiKey) =>
    app.post(responses, token, { model: ready, input: 'Hi', ...over });
  const streamed = async (over: object = {}) => eventsOf((await create({ stream: true, ...over })).body);
  const read = (id: string, rest = '', token = admin.apiKey) => app.get(`${responses}/${id}${rest}`, token);

  it('counts the tokens of a request, with those of the responses before it', async () => {
    const previous_response_id = (await create()).body.id;
    const count = (over: object) => app.post(`${responses}/input_tokens`, admin.apiKey, { model: ready, ...over });
    expect((await count({ input: 'one two' })).body).toEqual({ object: 'response.input_tokens', input_tokens: 2 });
    expect((await count({ input: 'Hi', previous_response_id })).body.input_tokens).toBeGreaterThan(2);
    expect(statusAndCode(await count({ input: 7 }))).toBe('400 invalid_request');
  });

  it('answers a text with a stored response', async () => {
    const { status, body, headers } = await create({ metadata: { a: 'b' }, user: 'me' });
    expect(status).toBe(200);
    expect(headers.get('x-ratelimit-remaining-requests')).not.toBeNull();
    const uuid = body.id.slice('resp_'.length);
    const seconds = Math.floor(app.clock.now().getTime() / 1000);
    expect(body).toEqual({
      id: expect.stringMatching(/^resp_[0-9a-f-]{36}$/),
      object: 'response',
      created_at: seconds,
      status: 'completed',
      background: false,
      completed_at: seconds,
      error: null,
      incomplete_details: null,
      previous_response_id: null,
      output: [
        {
          id: `msg_${uuid}-0`,
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello there', annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 3,
      },
      model: ready,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: { a: 'b' },
      parallel_tool_calls: true,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: true,
      temperature: 0,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      truncation: 'disabled',
      user: 'me',
    });
    expect(asked).toEqual({
      messages: [{ role: 'user', content: 'Hi' }],
      maxTokens: null,
      cutToContext: true,
      temperature: null,
      passedOn: { user: 'me' },
    });
    expect((await read(body.id)).body).toEqual(body);
    expect((await read(body.id, '', admin.token)).body).toEqual(body);
    for (const [path, token] of [
      [body.id, member.apiKey],
      [body.id, stranger.apiKey],
      [unknown, admin.apiKey],
      ['resp_1', admin.apiKey],
    ] as const)
      expect(statusAndCode(await read(path, '', token))).toBe('404 not_found');
  });

  it('streams the events in the published order, and ends with the last one', async () => {
    const { status, headers, body } = await create({ stream: true });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(body).not.toContain('[DONE]');
    const events = eventsOf(body);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const last = events.at(-1)?.response;
    const begun = { status: 'in_progress', completed_at: null, output: [], usage: null };
    expect(events[0]?.response).toEqual({ ...last, ...begun });
    expect((await read(last.id)).body).toEqual(last);
    expect(last.usage).toMatchObject({ output_tokens_details: { reasoning_tokens: 3 }, total_tokens: 12 });
  });

  it('maps items, instructions, tools, formats and sampling to the chat', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } };
    const own = { name: 'get_weather', description: 'Tells it.' };
    const { status, body } = await create({
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'You know all cities.' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'What' },
            { type: 'input_text', text: ' is it?' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
          ],
        },
        { role: 'user', content: [] },
        { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.', annotations: [] }] },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{}' },
        { type: 'function_call', call_id: 'call_2', name: 'get_weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'rain' },
        { type: 'function_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'sun' }] },
      ],
      tools: [
        { type: 'web_search' },
        { ...weather, ...own, strict: true },
        { type: 'namespace', name: 'n', description: '', tools: [weather] },
        { type: 'mcp', server_label: 's' },
      ],
      tool_choice: { type: 'function', name: 'get_weather' },
      parallel_tool_calls: false,
      truncation: 'auto',
      text: { format: { type: 'json_schema', name: 'place', schema, strict: true }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      max_output_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      top_logprobs: 2,
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
      prompt_cache_key: 'k',
      prompt_cache_options: {},
      client_metadata: { a: '1' },
      service_tier: 'auto',
      top_k: 3,
      x_own: true,
    });
    expect({ status, code: body.error }).toEqual({ status: 200, code: null });
    const callOf = (id: string) => ({ id, name: 'get_weather', arguments: '{}' });
    expect(asked).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: 'You know all cities.' },
        {
          role: 'user',
          content: 'What is it?',
          parts: [{ text: 'What' }, { text: ' is it?' }, { imageUrl: 'data:image/png;base64,AA==', detail: 'low' }],
        },
        { role: 'user', content: '' },
        { role: 'assistant', content: 'I look.', reasoning: 'Hm.', toolCalls: [callOf('call_1'), callOf('call_2')] },
        { role: 'tool', content: 'rain', toolCallId: 'call_1' },
        { role: 'tool', content: 'sun', toolCallId: 'call_2' },
      ],
      maxTokens: 9,
      cutToContext: true,
      leaveOutOldest: true,
      temperature: 0.5,
      tools: [{ ...own, parameters: { type: 'object' }, strict: true, place: 'tools.1.parameters' }],
      toolChoice: { tool: 'get_weather' },
      parallelToolCalls: false,
      reasoningEffort: 'low',
      responseFormat: { json: 'schema', name: 'place', schema, strict: true, place: 'text.format.schema' },
      sampling: { topP: 0.9, topK: 3, topLogprobs: 2 },
      passedOn: { prompt_cache_key: 'k', prompt_cache_options: {}, service_tier: 'auto', verbosity: 'low' },
      unknown: { x_own: true },
    });
    expect(body.tools).toHaveLength(1);
  });

  it('makes items of reasoning and calls of tools, whose joined parts are the items', async () => {
    parts = async function* () {
      yield { text: '', reasoning: 'Hm' };
      yield { text: '', reasoning: '.' };
      yield { text: 'I look.' };
      yield { text: '', toolCalls: [{ index: 0, id: 'call_a', name: 'get_weather', arguments: '' }] };
      yield { text: '', toolCalls: [{ index: 0, arguments: '{"c"' }] };
      yield { text: '', toolCalls: [{ index: 0, arguments: ':1}' }] };
      yield { text: '', toolCalls: [{ index: 1, id: 'call_b', name: 'get_weather', arguments: '{}' }] };
      yield { text: '', end: { finishReason: 'tool_calls', usage } };
    };
    for (const summary of [null, 'auto']) {
      const events = await streamed({ tools: [weather], reasoning: { summary } });
      const { output, id } = events.at(-1)?.response ?? {};
      expect(output).toMatchObject([
        { type: 'reasoning', summary: summary ? [{ type: 'summary_text', text: 'Hm.' }] : [] },
        { type: 'message', content: [{ type: 'output_text', text: 'I look.' }] },
        { type: 'function_call', call_id: 'call_a', name: 'get_weather', arguments: '{"c":1}', status: 'completed' },
        { type: 'function_call', call_id: 'call_b', arguments: '{}' },
      ]);
      const done = events.filter(({ type }) => type === 'response.output_item.done');
      expect(done.map(({ item }) => item)).toEqual(output);
      for (const [index, item] of output.entries()) {
        const own = events.filter((event) => event.item_id === item.id);
        expect(own.every(({ output_index }) => output_index === index)).toBe(true);
        const deltas = own.filter(({ type }) => type.endsWith('.delta')).map(({ delta }) => delta);
        const whole = item.arguments ?? (item.content ?? item.summary)[0].text;
        expect(deltas.join('')).toBe(whole);
      }
      const ofThought = events
        .filter(({ output_index }) => output_index === 0)
        .map(({ type }) => type.replace('response.', ''));
      const [part, text] = summary
        ? ['reasoning_summary_part', 'reasoning_summary_text']
        : ['content_part', 'reasoning_text'];
      const deltas = [`${text}.delta`, `${text}.delta`];
      const ends = [`${text}.done`, `${part}.done`, 'output_item.done'];
      expect(ofThought).toEqual(['output_item.added', `${part}.added`, ...deltas, ...ends]);
      // The next request gets everything back.
      await create({
        previous_response_id: id,
        input: [{ type: 'function_call_output', call_id: 'call_a', output: 'rain' }],
      });
      expect(asked.messages).toMatchObject([
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'I look.', reasoning: 'Hm.', toolCalls: [{ id: 'call_a' }, { id: 'call_b' }] },
        { role: 'tool', content: 'rain', toolCallId: 'call_a' },
      ]);
    }
  });

  it('continues earlier responses, but for their instructions, and refuses unknown ones', async () => {
    const first = (await create({ instructions: 'Be brief.' })).body.id;
    const second = (await create({ previous_response_id: first, input: 'And?', instructions: 'Be long.' })).body;
    expect(second.previous_response_id).toBe(first);
    expect(asked.messages.map(({ content }) => content)).toEqual(['Be long.', 'Hi', 'Hello there', 'And?']);
    await create({ previous_response_id: second.id, input: [] });
    expect(asked.messages.map(({ content }) => content)).toEqual(['Hi', 'Hello there', 'And?', 'Hello there']);
    const error = { code: 'previous_response_not_found', param: 'previous_response_id', type: 'invalid_request_error' };
    for (const [id, token] of [
      [unknown, admin.apiKey],
      ['nonsense', admin.apiKey],
      [first, stranger.apiKey],
    ] as const) {
      const over = { previous_response_id: id, model: token === stranger.apiKey ? strangers : ready };
      expect(await create(over, token)).toMatchObject({ status: 400, body: { error } });
    }
    expect((await app.delete(`${responses}/${first}`, admin.apiKey)).body).toEqual({
      id: first,
      object: 'response',
      deleted: true,
    });
    expect(statusAndCode(await read(first))).toBe('404 not_found');
    expect(statusAndCode(await app.delete(`${responses}/${first}`, admin.apiKey))).toBe('404 not_found');
    expect(await create({ previous_response_id: second.id })).toMatchObject({ status: 400, body: { error } });
  });

  it('resolves references to the items of earlier answers', async () => {
    const { output } = (await create()).body;
    const [item] = output;
    const input = [
      { role: 'user', content: 'Hi' },
      { type: 'item_reference', id: item.id },
      { role: 'user', content: 'And?' },
    ];
    expect(statusAndCode(await create({ input }))).toBe('200 undefined');
    expect(asked.messages.map(({ content }) => content)).toEqual(['Hi', 'Hello there', 'And?']);
    expect(await create({ input: [{ id: 'msg_1' }] })).toMatchObject({
      status: 400,
      body: { error: { param: 'input[0].id' } },
    });
  });

  it('lists the items of a request, newest first', async () => {
    const input = [
      { role: 'user', content: 'One' },
      { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'two' },
      { role: 'user', content: [{ type: 'input_image', image_url: 'data:x' }] },
    ];
    const { id } = (await create({ input })).body;
    const { body } = await read(id, '/input_items');
    expect(body).toMatchObject({
      object: 'list',
      has_more: false,
      first_id: body.data[0].id,
      last_id: body.data[3].id,
    });
    const text = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] });
    expect(body.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'data:x' }] },
      { type: 'function_call_output', call_id: 'call_1', output: 'two' },
      { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
      text('user', 'One'),
    ]);
    const page = (await read(id, `/input_items?limit=2&after=${body.data[0].id}`)).body;
    expect(page).toMatchObject({ has_more: true, data: [body.data[1], body.data[2]] });
    expect((await read(id, '/input_items?order=asc&limit=1')).body.data).toEqual([body.data[3]]);
    expect(statusAndCode(await read(id, '/input_items?after=x'))).toBe('400 invalid_request');
    expect(statusAndCode(await read(unknown, '/input_items?limit=0'))).toBe('404 not_found');
  });

  it.each<[object, string, string | null]>([
    [{ input: undefined }, 'invalid_request', 'input'],
    [{ input: [] }, 'invalid_request', 'input'],
    [{ input: 7 }, 'invalid_request', 'input'],
    [{ input: [{ role: 'critic', content: '' }] }, 'invalid_request', 'input[0].role'],
    [{ input: [{ role: 'user' }] }, 'invalid_request', 'input[0].content'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_file' }] }] },
      'unsupported_parameter',
      'input[0].content[0].type',
    ],
    [{ input: [{ type: 'computer_call' }] }, 'unsupported_parameter', 'input[0].type'],
    [{ input: [{ type: 'function_call', name: 'f' }] }, 'invalid_request', 'input[0].call_id'],
    [{ conversation: 'conv_1' }, 'unsupported_parameter', 'conversation'],
    [{ background: true, store: false }, 'invalid_request', 'background'],
    [{ temperature: 3 }, 'invalid_request', 'temperature'],
    [{ text: { format: { type: 'odd' } } }, 'invalid_request', 'text.format.type'],
    [{ tools: [weather], tool_choice: { type: 'function', name: 'g' } }, 'invalid_request', 'tool_choice.name'],
    [{ tool_choice: 'required' }, 'invalid_request', 'tool_choice'],
    [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, 'invalid_request', 'tool_choice'],
    [{ tool_choice: { type: 'function', name: 'g' } }, 'invalid_request', 'tool_choice.name'],
    [{ tools: [weather], tool_choice: noneOf }, 'invalid_request', 'tool_choice'],
    [{ input: [{ role: 'user', content: [image] }] }, 'invalid_request', 'input[0].content[0].detail'],
    [{ input: 'a '.repeat(300) }, 'context_length_exceeded', 'input'],
  ])('refuses %j with %s', async (over, code, param) => {
    const { status, body } = await create(over);
    expect({ status, ...body.error }).toMatchObject({ status: 400, code, param });
  });

  it('needs a runtime and a known model, and takes no master key', async () => {
    const bare = await createProject(app, admin.token);
    expect(statusAndCode(await create({ model: bare }))).toBe('503 runtime_not_connected');
    expect(statusAndCode(await create({ model: bare, background: true }))).toBe('503 runtime_not_connected');
    expect(await create({ model: 'gpt-4o' })).toMatchObject({ status: 404, body: { error: { param: 'model' } } });
    expect(statusAndCode(await create({}, ''))).toBe('401 unauthenticated');
  });
});
