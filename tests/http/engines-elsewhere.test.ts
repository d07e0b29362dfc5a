import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { Clock } from '../../src/application/shared/ports.js';
import { ChatRuntimesByEngine } from '../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { SystemClock } from '../../src/infrastructure/system/adapters.js';
import { sendJson } from '../support/local-server.js';
import {
  answering,
  chunk,
  chunksOf,
  completion,
  type Script,
  ScriptedEngine,
  sendEvents,
  speaking,
  streaming,
} from '../support/scripted-engine.js';
import { until } from '../support/until.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  readyProject,
  register,
  registeredModel,
  startedProject,
  untilState,
} from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

/** Parses the data of each event. */
const dataOf = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => (data === '[DONE]' ? data : JSON.parse(data)));

const KEY = 'sk-the-key-of-the-engine';
const OTHER_KEY = 'sk-another-key';

describe('chat with an engine elsewhere', () => {
  let engine: ScriptedEngine;
  let elsewhere: ScriptedEngine;
  let app: TestApp;
  let admin: Member;
  let project: string;
  const seen: string[] = [];

  const spec = (over: object = {}) => ({
    runtime: 'openai',
    base_url: engine.url,
    model: 'big-model',
    model_aliases: ['big-model-0613'],
    key_setting: 'SERVICE_RUNTIME_KEY_BIG',
    ...over,
  });

  beforeAll(async () => {
    [engine, elsewhere] = await Promise.all([ScriptedEngine.start(), ScriptedEngine.start()]);
    engine.key = KEY;
    app = await TestApp.start({
      adapt: (container) => {
        container.rebind(ChatRuntimes).to(ChatRuntimesByEngine).inSingletonScope();
        container.rebind(Clock).toConstantValue(new SystemClock());
      },
      env: {
        SERVICE_RUNTIME_ALLOWED_HOSTS: `localhost, ${engine.host}`,
        SERVICE_RUNTIME_KEY_BIG: KEY,
        SERVICE_RUNTIME_KEY_WRONG: OTHER_KEY,
        SERVICE_INFERENCE_TIMEOUT_S: '2',
      },
    });
    admin = await register(app, 'Ada');
    project = await readyProject(app, admin.token, spec());
  });
  afterEach(() => {
    engine.script = speaking();
  });
  afterAll(async () => {
    await app.container.get(ChatRuntimes).close();
    await app.stop();
    await Promise.all([engine.close(), elsewhere.close()]);
  });

  const chat = async (more: object = {}, id = project) => {
    const answer = await app.post(completions(id), admin.apiKey, ask(id, 'Hi', more));
    seen.push(JSON.stringify(answer.body));
    return answer;
  };
  const result = async (script: Script, more: object = {}) => {
    engine.script = script;
    const { status, body, headers } = await chat(more);
    return { status, code: body.code, wait: headers.get('retry-after'), retry: headers.get('x-should-retry') };
  };

  it('sends the request to the engine with the key of the engine, and the answer to the caller', async () => {
    const { status, body } = await chat({ max_tokens: 9, temperature: 0.5 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      model: project,
      choices: [{ message: { content: 'The capital of France is Paris.' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 7,
        completion_tokens: 6,
        total_tokens: 13,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    });
    expect(engine.asked.at(-1)?.body).toEqual({
      model: 'big-model',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 9,
      temperature: 0.5,
      stream: false,
    });
    expect(engine.asked.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    await chat();
    expect(engine.asked.at(-1)?.body).toMatchObject({ max_tokens: 512, temperature: 0 });
  });

  it('accepts an alias of the model, other finish reasons, and answers without usage', async () => {
    const usage = { prompt_tokens: 8, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 5 } };
    engine.script = answering(200, completion('big-model-0613', 'Hi', { usage }, 'length'));
    const { body } = await chat();
    expect(body.choices[0].finish_reason).toBe('length');
    expect(body.usage).toMatchObject({ total_tokens: 10, prompt_tokens_details: { cached_tokens: 5 } });
    const huge = { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: Number.MAX_SAFE_INTEGER };
    for (const none of [
      undefined,
      null,
      {},
      { prompt_tokens: '8', completion_tokens: 2 },
      { prompt_tokens: 8 },
      huge,
    ]) {
      engine.script = answering(200, completion('big-model', 'Hi', { usage: none }, null));
      const bare = await chat();
      expect(bare).toMatchObject({ status: 200, body: { usage: null } });
      expect(bare.body.choices[0]).toMatchObject({ message: { content: 'Hi' }, finish_reason: 'stop' });
    }
  });

  const openAi = (more: object = {}) => app.post('/openai/v1/chat/completions', admin.apiKey, ask(project, 'Hi', more));

  it('passes on tools, images and sampling of the OpenAI endpoint, and the tool calls of the answer', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } };
    const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } };
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Where is this?' }, image] },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'In Paris', tool_call_id: 'call_1' },
    ];
    const tools = { tools: [{ type: 'function', function: { name: 'weather' } }], tool_choice: 'auto' };
    const sampling = { temperature: 1, top_p: 0.9, seed: 7, stop: ['.'], logprobs: true, top_logprobs: 1 };
    const token = { token: 'Hi', logprob: -0.5, bytes: [72, 105] };
    const logprobs = { content: [{ ...token, top_logprobs: [token] }], refusal: null };
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    const choices = [{ index: 0, message, logprobs, finish_reason: 'tool_calls' }];
    engine.script = answering(200, completion('big-model', null, { choices }));
    const { status, body } = await openAi({ messages, ...tools, ...sampling, max_completion_tokens: 9, user: 'ada' });
    expect({ status, choices: body.choices }).toEqual({
      status: 200,
      choices: [{ ...choices[0], message: { ...message, refusal: null } }],
    });
    expect(engine.asked.at(-1)?.body).toEqual({
      model: 'big-model',
      messages,
      stream: false,
      max_tokens: 9,
      ...tools,
      ...sampling,
    });
    expect(await openAi()).toMatchObject({ status: 502, body: { error: { code: 'runtime_invalid_response' } } });
  });

  const newestJob = async () => (await app.get('/v1/jobs?limit=1', admin.token)).body.jobs[0];
  /** Opens a stream and sends its first part. The test then acts as the engine with `upstream`. */
  const opened = async (signal: AbortSignal | null = null) => {
    let upstream: ServerResponse | undefined;
    engine.script = (_, response) => {
      upstream = response;
      sendEvents(response, chunk('big-model', { content: 'Hi' }));
    };
    const headers = { Authorization: `Bearer ${admin.apiKey}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify(ask(project, 'Hi', { stream: true }));
    const answer = await fetch(`${app.url}/openai/v1/chat/completions`, { method: 'POST', headers, body, signal });
    return { upstream: upstream as ServerResponse, answer };
  };

  it('streams through the OpenAI endpoint, chunk by chunk, under the name of the project', async () => {
    const usage = { prompt_tokens: 8, completion_tokens: 2 };
    engine.script = streaming(...chunksOf('big-model-0613', 'Hello there', { usage }));
    const { status, body } = await openAi({ stream: true, stream_options: { include_usage: true } });
    expect(status).toBe(200);
    const [role, hello, there, end, figures, done] = dataOf(body);
    for (const one of [role, hello, there, end, figures])
      expect(one).toMatchObject({ object: 'chat.completion.chunk', model: project, id: role.id });
    const deltas = [role, hello, there, end].map(({ choices: [{ delta, finish_reason }] }) => [delta, finish_reason]);
    expect(deltas).toEqual([
      [{ role: 'assistant', content: '' }, null],
      [{ content: 'Hello' }, null],
      [{ content: ' there' }, null],
      [{}, 'stop'],
    ]);
    expect(figures).toMatchObject({ choices: [], usage: { ...usage, total_tokens: 10 } });
    expect(done).toBe('[DONE]');
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } };
    const script = [chunk('big-model', { tool_calls: [call] }), chunk('big-model', {}, 'tool_calls')];
    engine.script = streaming(...script, '[DONE]');
    const [, calls, last] = dataOf((await openAi({ stream: true, tools: [{ type: 'function' }] })).body);
    expect(calls.choices[0].delta).toEqual({ tool_calls: [call] });
    expect(last.choices[0].finish_reason).toBe('tool_calls');
  });

  it('reports a failure with the status until a part is sent, and with the last event afterwards', async () => {
    engine.script = streaming(chunk('small-model', { content: 'Hi' }));
    const invalid = { error: { code: 'runtime_invalid_response' } };
    expect(await openAi({ stream: true })).toMatchObject({ status: 502, body: invalid });
    const broken: [(response: ServerResponse) => unknown, string][] = [
      [(response) => response.end(), 'runtime_invalid_response'],
      [(response) => response.socket?.destroy(), 'runtime_unavailable'],
    ];
    for (const [breaks, code] of broken) {
      const { upstream, answer } = await opened();
      breaks(upstream);
      const last = dataOf(await answer.text()).at(-1);
      expect({ status: answer.status, last }).toMatchObject({ status: 200, last: { error: { code } } });
      expect(await newestJob()).toMatchObject({ status: 'failed', error: expect.stringContaining(code) });
    }
    expect(await result(speaking())).toMatchObject({ status: 200 });
  });

  it('disconnects from the engine when the reader of a stream disconnects', async () => {
    const leaving = new AbortController();
    const { upstream } = await opened(leaving.signal);
    const gone = once(upstream, 'close');
    leaving.abort();
    await gone;
    await until('the call is cancelled', async () => (await newestJob()).status === 'cancelled');
  });

  it('reports a time-out of the engine as inference_timeout', async () => {
    for (const status of [408, 504]) {
      const expected = { status: 504, code: 'inference_timeout', wait: null, retry: 'false' };
      expect(await result(answering(status, 'too late'))).toEqual(expected);
    }
  });

  it('fails only the call with the broken connection, and answers the others', async () => {
    const answers: (() => void)[] = [];
    const asked = engine.asked.length;
    engine.script = (_, response) => {
      answers.push(() => sendJson(response, 200, completion('big-model', 'Hi')));
    };
    const healthy = chat();
    await engine.wasAsked(asked + 1);
    const broken = await result((_, response) => response.socket?.destroy());
    expect(broken).toMatchObject({ status: 503, code: 'runtime_unavailable' });
    for (const answer of answers) answer();
    expect((await healthy).status).toBe(200);
    expect(await result(speaking())).toMatchObject({ status: 200 });
  });

  const tooLarge = `"${'x'.repeat(9 * 1024 * 1024)}"`;
  it.each<[string, Script]>([
    ['no JSON', answering(200, '<html>')],
    ['nothing', answering(200, '')],
    ['JSON of another shape', answering(200, [])],
    ['another kind of answer', answering(200, { ...completion('big-model', 'Hi'), object: 'text_completion' })],
    ['no choices', answering(200, completion('big-model', 'Hi', { choices: [] }))],
    ['choices that are no list', answering(200, completion('big-model', 'Hi', { choices: { 0: 'x' } }))],
    ['no text', answering(200, completion('big-model', null))],
    ['empty text', answering(200, completion('big-model', ''))],
    ['parts instead of text', answering(200, completion('big-model', [{ type: 'text', text: 'Hi' }]))],
    ['another model', answering(200, completion('small-model', 'Hi'))],
    ['a list of models', answering(200, completion('big-model', 'Hi', { model: ['big-model'] }))],
    ['no model', answering(200, completion('big-model', 'Hi', { model: undefined }))],
    ['the call of a tool', answering(200, completion('big-model', 'Hi', {}, 'tool_calls'))],
    ['more bytes than the limit', answering(200, tooLarge)],
    ['a redirect', (_, response) => sendJson(response, 307, {}, { Location: `${elsewhere.url}/chat/completions` })],
    ['a bad request', answering(400, { error: { code: 'invalid_value', message: 'no' } })],
    ['no such model', answering(404, { error: { code: 'model_not_found' } })],
    ['an error of its own', answering(500, { error: { message: 'oops' } })],
    ['a gateway’s error', answering(502, '<html>')],
    ['no content', answering(204, '')],
    ['no HTTP', (_, response) => response.socket?.end('hello\r\n\r\n')],
  ])('answers 502 if the engine sends %s', async (_, script) => {
    const refusal = { status: 502, code: 'runtime_invalid_response', wait: null, retry: 'false' };
    expect(await result(script)).toEqual(refusal);
    expect(elsewhere.asked).toEqual([]);
  });

  it.each([
    ['5', '5'],
    ['0', '1'],
    ['86400', '60'],
    ['soon', '1'],
    [undefined, '1'],
  ])('passes on that the engine is busy, with a wait from 1 to 60 s (Retry-After: %s)', async (retryAfter, wait) => {
    const script = answering(429, {}, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
    expect(await result(script)).toEqual({ status: 429, code: 'model_busy', wait, retry: null });
  });

  it('passes on that the engine is not available now', async () => {
    const unavailable = { status: 503, code: 'runtime_unavailable', wait: null, retry: null };
    expect(await result(answering(503, {}))).toEqual(unavailable);
    const loading = { status: 503, code: 'runtime_loading', wait: '7', retry: null };
    expect(await result(answering(503, {}, { 'Retry-After': '7' }))).toEqual(loading);
    for (const status of [401, 403]) {
      expect(await result(answering(status, { error: { message: `Incorrect key ${KEY}` } }))).toEqual(unavailable);
    }
    expect(await result(speaking())).toMatchObject({ status: 200 });
  });

  it('passes on that a prompt is too long; for a call without max_tokens, first asks again with no limit', async () => {
    const refusal = { status: 422, code: 'context_length_exceeded', wait: null, retry: null };
    const words = [
      { error: { code: 'context_length_exceeded', message: 'x' } },
      { error: { code: 400, type: 'exceed_context_size_error', message: 'x' } },
      { object: 'error', message: "This model's maximum context length is 4096 tokens." },
    ];
    for (const said of words) expect(await result(answering(400, said), { max_tokens: 4 })).toEqual(refusal);
    const before = engine.asked.length;
    expect(await result(answering(400, words[0]))).toEqual(refusal);
    expect(engine.asked.slice(before).map(({ body }) => body.max_tokens)).toEqual([512, undefined]);
    engine.script = (asked, response) =>
      (asked.body.max_tokens ? answering(400, words[0]) : speaking('what is left'))(asked, response);
    expect((await chat()).body.choices[0].message.content).toBe('what is left');
  });

  it.each<[string, Script]>([
    ['never answers', () => undefined],
    [
      'sends too slowly',
      (_, response) => {
        const drop = setInterval(() => response.write(' '), 50);
        response.once('close', () => clearInterval(drop));
      },
    ],
  ])('gives up on an engine that %s, and closes the connection', async (_, script) => {
    let gone: Promise<unknown> | undefined;
    const late = await result((asked, response) => {
      gone = new Promise((resolve) => response.once('close', resolve));
      script(asked, response);
    });
    expect(late).toEqual({ status: 504, code: 'inference_timeout', wait: null, retry: 'false' });
    await gone;
    expect(await result(speaking())).toMatchObject({ status: 200 });
  });

  it('becomes unavailable when the engine stops, and ready when it is back', async () => {
    const { port } = engine;
    await engine.close();
    const gone = await chat();
    expect(gone).toMatchObject({ status: 503, body: { code: 'runtime_unavailable' } });
    const runtime = async () => (await app.get(`/v1/projects/${project}/runtime`, admin.token)).body;
    await until('it is ready no more', async () => (await runtime()).state !== 'ready');
    expect(JSON.stringify([gone.body, await runtime()])).not.toContain(String(port));
    engine = await ScriptedEngine.start(port);
    engine.key = KEY;
    await untilState(app, admin.token, project, 'ready');
    expect((await chat()).status).toBe(200);
  });

  it('tells why an engine cannot be used, and uses it as soon as possible', async () => {
    const wrong = await startedProject(app, admin.token, spec({ key_setting: 'SERVICE_RUNTIME_KEY_WRONG' }));
    await untilState(app, admin.token, wrong, 'unavailable');
    // The reason is shown between two attempts. During an attempt, the runtime is loading.
    const runtime = async () => (await app.get(`/v1/projects/${wrong}/runtime`, admin.token)).body;
    await until('it says why', async () => (await runtime()).reason === 'the engine refused the key');
    expect(await chat({}, wrong)).toMatchObject({ status: 503, body: { code: expect.stringMatching(/^runtime_/) } });
    for (const models of [404, 405]) {
      engine.models = models;
      await readyProject(app, admin.token, spec());
    }
    engine.models = 500;
    const failing = await startedProject(app, admin.token, spec());
    await untilState(app, admin.token, failing, 'unavailable');
    engine.models = 200;
    await untilState(app, admin.token, failing, 'ready');
  });

  it('connects only to hosts that are allowed', async () => {
    const bare = await createProject(app, admin.token);
    const model = await registeredModel(app, admin.token, bare, spec({ base_url: elsewhere.url }));
    const { status, body } = await app.put(`/v1/projects/${bare}/runtime`, admin.token, { model_id: model });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.error).toMatch(/^spec\.base_url: .*SERVICE_RUNTIME_ALLOWED_HOSTS/);
  });

  it('shows the key to nobody', () => {
    const log = JSON.stringify(app.logger.lines);
    expect(log).toContain('chat runtime unavailable');
    for (const key of [KEY, OTHER_KEY, 'Incorrect']) expect(log + seen.join('')).not.toContain(key);
  });
});
