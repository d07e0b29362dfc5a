import { ChatRuntimes } from '../../src/application/chat/ports.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { UnsupportedParameter } from '../../src/domain/chat/errors.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { masterKey } from '../support/monitoring.js';
import { createProject, type Member, readyProject, registeredModel } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const models = '/openai/v1/models';
const completions = '/openai/v1/chat/completions';
const message = { role: 'user', content: 'Hi' };
const schemaFormat = (over: object = {}) => ({
  type: 'json_schema',
  json_schema: { name: 'place', schema: { type: 'object' }, ...over },
});

describe('the OpenAI endpoint', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  /** Names a project with a ready runtime. */
  let ready: string;
  /** Names a project without a runtime. */
  let bare: string;
  let asked: ChatRequest;
  const answer = (request: ChatRequest) => {
    asked = request;
    if (request.tools) throw new UnsupportedParameter('tools', 'is not supported by the connected model.');
    return 'Hello there';
  };

  beforeAll(async () => {
    ({ app, admin, member, stranger } = await TestApp.withTeam({
      env: { SERVICE_MASTER_KEY: masterKey, SERVICE_CORS_ORIGINS: 'https://chat.example' },
      adapt: (container) =>
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes({ 'tiny-chat': { answer } })),
    }));
    ready = await readyProject(app, admin.token);
    bare = await createProject(app, admin.token);
  });
  afterAll(() => app.stop());

  const chat = (over: object = {}, token = admin.apiKey) =>
    app.post(completions, token, { model: ready, messages: [message], ...over });
  const named = async (name: string, token = admin.token) =>
    (await app.post('/v1/projects', token, { name, spec: {} })).body.id as string;
  const connected = async (id: string, token = admin.token) => {
    const model = await registeredModel(app, token, id);
    await app.put(`/v1/projects/${id}/runtime`, token, { model_id: model });
    return id;
  };

  it('lists the projects of the team that have a runtime, also a stopped one', async () => {
    const stopped = await connected(await named('Stopped'));
    const theirs = await connected(await named('Theirs', stranger.token), stranger.token);
    const { status, body, headers } = await app.get(models, member.apiKey);
    const model = (id: string, project_id: string) => ({
      id,
      object: 'model',
      created: Math.floor(app.clock.now().getTime() / 1000),
      owned_by: expect.stringMatching(/^tea_/),
      project_id,
      context_length: null,
    });
    const data = [model('Stopped', stopped), model(ready, ready)]; // two projects have the name of the second
    expect({ status, body }).toEqual({ status: 200, body: { object: 'list', data } });
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await app.get(models, stranger.token)).body.data).toMatchObject([{ project_id: theirs }]);
    for (const path of [`${models}/Stopped`, `${models}/Stopped/`, `${models}/${stopped}`])
      expect((await app.get(path, admin.token)).body).toEqual(model('Stopped', stopped));
    for (const id of [bare, theirs, 'nothing', '%00', 'prj_x/y'])
      expect(statusAndCode(await app.get(`${models}/${id}`, admin.token))).toBe('404 not_found');
  });

  it('finds a project by its id or by its unique name; the id wins', async () => {
    const path = 'Llama/3 8b';
    const one = await connected(await named(path));
    const posing = await connected(await named(ready));
    for (const written of ['Llama/3%208b', 'Llama%2F3%208b', one])
      expect((await app.get(`${models}/${written}`, admin.token)).body).toMatchObject({ id: path, project_id: one });
    // Its name is the id of another project.
    expect((await app.get(`${models}/${posing}`, admin.token)).body).toMatchObject({ id: posing, project_id: posing });
    expect((await app.get(`${models}/${ready}`, admin.token)).body.project_id).toBe(ready);
    expect(statusAndCode(await chat({ model: path }))).toBe('503 runtime_stopped');
    await named(path, stranger.token);
    expect(statusAndCode(await chat({ model: path }))).toBe('503 runtime_stopped');
    await named(path);
    expect((await app.get(`${models}/${one}`, admin.token)).body).toMatchObject({ id: one, project_id: one });
    expect(statusAndCode(await chat({ model: path }))).toBe('404 not_found');
    expect(statusAndCode(await app.get(`${models}/Llama/3%208b`, admin.token))).toBe('404 not_found');
    expect(await chat({ model: path })).toMatchObject({ body: { error: { param: 'model' } } });
    expect(statusAndCode(await chat({ model: one }))).toBe('503 runtime_stopped');
    expect(statusAndCode(await chat({ model: bare }))).toBe('503 runtime_not_connected');
    expect(statusAndCode(await chat({ model: await named('Only') }))).toBe('503 runtime_not_connected');
    expect(statusAndCode(await chat({}, stranger.apiKey))).toBe('404 not_found');
  });

  it('answers a chat as OpenAI does', async () => {
    const { status, body, headers } = await chat();
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        id: expect.stringMatching(/^chatcmpl-/),
        object: 'chat.completion',
        created: Math.floor(app.clock.now().getTime() / 1000),
        model: ready,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Hello there', refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: {
          prompt_tokens: 1,
          completion_tokens: 2,
          total_tokens: 3,
          prompt_tokens_details: { cached_tokens: 0 },
        },
      },
    });
    expect(headers.get('x-ratelimit-limit-requests')).not.toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
    expect(asked).toEqual({
      messages: [{ role: 'user', content: 'Hi' }],
      maxTokens: null,
      cutToContext: true,
      temperature: 0,
    });
  });

  it('passes on a response format', async () => {
    const schema = { type: 'object', properties: { b: { const: null }, a: {} } };
    const format = { json: 'schema', name: 'place', schema };
    for (const [sent, expected] of [
      [{ type: 'text' }, undefined],
      [null, undefined],
      [{ type: 'json_object' }, { json: 'object' }],
      [schemaFormat({ schema, strict: null, description: null }), format],
      [schemaFormat({ schema, strict: true, description: '' }), { ...format, strict: true, description: '' }],
    ]) {
      expect(statusAndCode(await chat({ response_format: sent }))).toBe('200 undefined');
      expect(asked.responseFormat).toEqual(expected);
      expect('responseFormat' in asked).toBe(expected !== undefined);
    }
  });

  it('passes on the parameters for the model, and none that was not sent', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } };
    const text = (part: string) => ({ type: 'text', text: part });
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
    // The library copies these fields of an answer into its next request.
    const nothing = { refusal: null, annotations: [], audio: null, function_call: null, parsed: null };
    const messages = [
      { role: 'developer', content: [text('Be '), text('brief.')] },
      { role: 'user', content: [text('What is this?'), image], name: 'Ada' },
      { ...nothing, role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'a cat', tool_call_id: 'call_1' },
    ];
    const options = {
      max_tokens: 9,
      max_completion_tokens: 100_000,
      temperature: 1,
      top_p: 0.5,
      top_k: 40,
      min_p: 0.1,
      repetition_penalty: 1.1,
      chat_template_kwargs: { enable_thinking: false },
      seed: -7,
      stop: 'x',
      presence_penalty: -2,
      frequency_penalty: 2,
      logit_bias: { 50256: -100 },
      logprobs: true,
      top_logprobs: 20,
      n: 1,
      response_format: { type: 'text' },
      user: 'u',
      metadata: {},
      store: true,
      service_tier: 'auto',
      parallel_tool_calls: true,
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'auto' },
      safety_identifier: 's',
      reasoning_effort: 'low',
      verbosity: 'low',
    };
    expect(statusAndCode(await chat({ messages, ...options }))).toBe('200 undefined');
    expect(asked).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: 'What is this?',
          parts: [{ text: 'What is this?' }, { imageUrl: image.image_url.url }],
          name: 'Ada',
        },
        { role: 'assistant', content: '', parts: [], toolCalls: [{ id: 'call_1', name: 'f', arguments: '{}' }] },
        { role: 'tool', content: 'a cat', toolCallId: 'call_1' },
      ],
      maxTokens: 9,
      cutToContext: true,
      temperature: 1,
      sampling: {
        topP: 0.5,
        topK: 40,
        minP: 0.1,
        repetitionPenalty: 1.1,
        seed: -7,
        stop: ['x'],
        presencePenalty: -2,
        frequencyPenalty: 2,
        logitBias: { 50256: -100 },
        topLogprobs: 20,
      },
      templateFields: { enable_thinking: false },
      reasoningEffort: 'low',
    });
    const nulls = Object.fromEntries(Object.keys(options).map((name) => [name, null]));
    const others = {
      stream: null,
      stream_options: null,
      tools: null,
      tool_choice: null,
      functions: null,
      audio: null,
      moderation: null,
      prompt_cache_retention: null,
    };
    expect(statusAndCode(await chat({ ...nulls, ...others }))).toBe('200 undefined');
    expect(asked).toEqual({ messages: [message], maxTokens: null, cutToContext: true, temperature: 0 });
    await chat({ logprobs: true, stop: ['a', 'b'] });
    expect(asked.sampling).toEqual({ topLogprobs: 0, stop: ['a', 'b'] });
    const tools = [{ type: 'function', function: { name: 'f' } }];
    expect(await chat({ tools, tool_choice: 'auto' })).toMatchObject({
      status: 400,
      body: { error: { code: 'unsupported_parameter', param: 'tools' } },
    });
    expect(asked).toMatchObject({ tools: [{ name: 'f' }], toolChoice: 'auto' });
  });

  const long = (length: number) => 'x'.repeat(length);
  const deep = JSON.parse('['.repeat(64) + ']'.repeat(64));
  const refusesBody = async (param: string, model: string, over: object) => {
    const headers: Record<string, string> = param === 'X-Conversation-Id' ? { [param]: 'x' } : {};
    const json = { model, messages: [message], ...over };
    const { status, body } = await app.call('POST', completions, { token: admin.apiKey, json, headers });
    const text = expect.stringContaining(param);
    const error = { message: text, type: 'invalid_request_error', param, code: 'invalid_request' };
    expect({ status, body }).toEqual({ status: 400, body: { error } });
    expect(body.error.message).not.toContain('Invalid input'); // a message of the schema library
  };

  it.each<[string, object]>([
    ['model', { model: undefined }],
    ['model', { model: 7 }],
    ['messages', { messages: undefined }],
    ['messages', { messages: [] }],
    ['messages[0]', { messages: [7] }],
    ['messages[0].role', { messages: [{ content: 'x' }] }],
    ['stream', { stream: 'yes' }],
    ['stream_options', { stream: true, stream_options: [] }],
    [
      'response_format.json_schema.schema',
      { response_format: schemaFormat({ strict: true, schema: { title: long(100_000) } }) },
    ],
    ['response_format', { response_format: { schema: deep } }],
    ['metadata', { metadata: deep }],
    ['messages', { messages: Array(200_000).fill(1) }],
    ['X-Conversation-Id', {}],
  ])('refuses a bad %s for every engine, in any state of the runtime (%#)', (param, over) =>
    refusesBody(param, bare, over),
  );

  it.each<[string, object]>([
    ['messages[0].role', { messages: [{ role: 'critic', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: null }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: 7 }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: [] }] }],
    ['messages[0].content[0]', { messages: [{ role: 'user', content: ['x'] }] }],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 7 }] }] }],
    ['messages[1].content', { messages: [message, { role: 'assistant', content: null }, message] }],
    [
      'messages[0].content[1].text',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'text' }] }] },
    ],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_completion_tokens', { max_completion_tokens: 1.5 }],
    ['temperature', { temperature: 2.1 }],
    ['temperature', { temperature: '1' }],
    ['top_p', { top_p: 1.1 }],
    ['top_k', { top_k: 1.5 }],
    ['min_p', { min_p: 2 }],
    ['repetition_penalty', { repetition_penalty: 0 }],
    ['chat_template_kwargs', { chat_template_kwargs: [] }],
    ['top_p', { top_p: -0.1 }],
    ['seed', { seed: 0.5 }],
    ['stop', { stop: '' }],
    ['stop', { stop: ['a', 'b', 'c', 'd', 'e'] }],
    ['stop[1]', { stop: ['a', ''] }],
    ['presence_penalty', { presence_penalty: 2.1 }],
    ['frequency_penalty', { frequency_penalty: -2.1 }],
    ['logit_bias[7]', { logit_bias: { 7: 101 } }],
    ['logit_bias.x', { logit_bias: { x: 1 } }],
    ['logprobs', { logprobs: 1 }],
    ['top_logprobs', { logprobs: true, top_logprobs: 21 }],
    ['top_logprobs', { top_logprobs: 1 }],
    ['n', { n: 0 }],
    ['stream_options', { stream_options: { include_usage: true } }],
    ['stream_options', { stream: false, stream_options: {} }],
    ['response_format', { response_format: 'json' }],
    ['response_format.type', { response_format: {} }],
    ['response_format.type', { response_format: { type: 'xml' } }],
    ['response_format.json_schema', { response_format: { type: 'json_schema' } }],
    ['response_format.json_schema.name', { response_format: schemaFormat({ name: 'a b' }) }],
    ['response_format.json_schema.schema', { response_format: schemaFormat({ schema: true }) }],
    ['response_format.json_schema.schema', { response_format: schemaFormat({ schema: { title: long(100_000) } }) }],
    ['response_format.json_schema.strict', { response_format: schemaFormat({ strict: 'yes' }) }],
  ])('refuses a bad %s for a model of this service (%#)', (param, over) => refusesBody(param, ready, over));

  it.each([
    ['unknown_parameter', 'top_m', { top_m: 1 }],
    ['unsupported_parameter', 'web_search_options', { web_search_options: {} }],
    ['unsupported_parameter', 'modalities', { modalities: ['text', 'audio'] }],
    ['unsupported_parameter', 'messages[0].audio', { messages: [{ ...message, audio: { id: 'x' } }] }],
    ['unknown_parameter', 'messages[0].id', { messages: [{ ...message, id: 'x' }] }],
    ['unknown_parameter', 'stream_options.x', { stream: true, stream_options: { x: 1 } }],
    ['unknown_parameter', 'response_format.json_schema.x', { response_format: schemaFormat({ x: 1 }) }],
  ])('refuses with %s the field %s', async (code, param, over) => {
    expect(await chat(over)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining(param), type: 'invalid_request_error', param, code } },
    });
  });

  it('has every refusal in the form of OpenAI, with the headers of the service', async () => {
    const refused = async (method: string, path: string, options: object) => {
      const { status, body, headers } = await app.call(method, path, options);
      expect(Object.keys(body)).toEqual(['error']);
      expect(Object.keys(body.error)).toEqual(['message', 'type', 'param', 'code']);
      expect(headers.get('x-request-id')).not.toBeNull();
      expect(headers.get('cache-control')).toBe('no-store');
      const { type, code, param } = body.error;
      return `${status} ${type} ${code} ${param}`;
    };
    const token = admin.apiKey;
    const json = { model: ready, messages: [message] };
    const wrong = 'invalid_request_error';
    expect(await refused('GET', '/openai/v1', { token })).toBe(`404 ${wrong} not_found null`);
    expect(await refused('GET', '/openai/v1/engines', {})).toBe(`404 ${wrong} not_found null`);
    expect(await refused('GET', '/openai/v1/models/%ff', { token })).toBe(`404 ${wrong} not_found null`);
    expect(await refused('PUT', completions, { token })).toBe(`405 ${wrong} method_not_allowed null`);
    expect(await refused('POST', completions, { token, raw: '{' })).toBe(`400 ${wrong} malformed_json null`);
    const plain = { token, raw: '{}', headers: { 'Content-Type': 'text/plain' } };
    expect(await refused('POST', completions, plain)).toBe(`415 ${wrong} unsupported_media_type null`);
    expect(await refused('POST', completions, { token, raw: `"${long(32 * 1024 * 1024)}"` })).toBe(
      `413 ${wrong} payload_too_large null`,
    );
    expect(await refused('POST', completions, { token, json, headers: { Host: 'elsewhere.example' } })).toBe(
      `421 ${wrong} misdirected_request null`,
    );
    for (const raw of ['['.repeat(65) + ']'.repeat(65), '[]', 'null'])
      expect(await refused('POST', completions, { token, raw })).toBe(`400 ${wrong} invalid_request null`);
    const nul = { model: 'x\0', messages: [message] };
    expect(await refused('POST', completions, { token, json: nul })).toBe(`400 ${wrong} invalid_request model`);
    expect(await refused('POST', completions, { json })).toBe('401 authentication_error unauthenticated null');
    expect(await refused('POST', completions, { token: masterKey, json })).toBe(
      '401 authentication_error session_required null',
    );
    expect(await refused('POST', completions, { token, json: { ...json, model: bare } })).toBe(
      '503 server_error runtime_not_connected null',
    );
    const words = [{ role: 'user', content: 'x '.repeat(300) }];
    expect(await refused('POST', completions, { token, json: { ...json, messages: words } })).toBe(
      `400 ${wrong} context_length_exceeded messages`,
    );
  });

  it('is open to pages of allowed origins, and its routes have their own metrics', async () => {
    const headers = { Origin: 'https://chat.example', 'Access-Control-Request-Method': 'POST' };
    const preflight = await app.call('OPTIONS', completions, { headers });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([200, headers.Origin]);
    const { body } = await app.get('/metrics', masterKey);
    for (const route of [completions, models, `${models}/{model*}`]) expect(body).toContain(`route="${route}"`);
  });
});
