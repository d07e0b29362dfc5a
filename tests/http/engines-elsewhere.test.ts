import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { Clock } from '../../src/application/shared/ports.js';
import { ChatRuntimesByEngine } from '../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { SystemClock } from '../../src/infrastructure/system/adapters.js';
import { closeBreakers } from '../support/closed-breakers.js';
import { sendJson } from '../support/local-server.js';
import {
  answering,
  chunk,
  completion,
  type Script,
  ScriptedEngine,
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
} from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const KEY = 'sk-the-key-of-the-engine';
const OTHER_KEY = 'sk-another-key';
/** Equals the number of calls that the service sends to an engine at once. */
const AT_ONCE = 32;

describe('chat with an engine elsewhere', () => {
  let engine: ScriptedEngine;
  let app: TestApp;
  let admin: Member;
  let project: string;
  const seen: string[] = [];

  const spec = (over: object = {}) => ({
    runtime: 'openai',
    base_url: engine.url,
    model: 'big-model',
    key_setting: 'SERVICE_RUNTIME_KEY_BIG',
    ...over,
  });

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    engine.key = KEY;
    app = await TestApp.start({
      adapt: (container) => {
        container.rebind(ChatRuntimes).to(ChatRuntimesByEngine).inSingletonScope();
        container.rebind(Clock).toConstantValue(new SystemClock());
      },
      env: {
        SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host,
        SERVICE_RUNTIME_KEY_BIG: KEY,
        SERVICE_RUNTIME_KEY_WRONG: OTHER_KEY,
        SERVICE_INFERENCE_TIMEOUT_S: '8', // a busy machine needs some seconds for the large answers
        SERVICE_CHAT_QUEUE: '5',
        SERVICE_BODY_MEMORY_MB: '16',
      },
    });
    admin = await register(app, 'Ada');
    project = await readyProject(app, admin.token, spec());
  });
  afterEach(() => {
    closeBreakers(app.container);
    engine.script = speaking();
  });
  afterAll(async () => {
    await app.container.get(ChatRuntimes).close();
    await app.stop();
    await engine.close();
  });

  const chat = async (more: object = {}, id = project) => {
    const answer = await app.post(completions(id), admin.apiKey, ask(id, 'Hi', more));
    seen.push(JSON.stringify(answer.body));
    return answer;
  };
  /** Asks with the unchanged library, with the project as its base URL. */
  const library = (apiKey = admin.apiKey, id = project) => {
    const client = new OpenAI({ apiKey, baseURL: `${app.url}/v1/projects/${id}`, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    return client.chat.completions.create({ model: id, messages, max_tokens: 9, stream: false });
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
    const read = await library();
    expect([read.id, read.object]).toEqual([expect.stringMatching(/^chatcmpl-/), 'chat.completion']);
    expect(read.choices[0]?.message).toEqual({ role: 'assistant', content: 'The capital of France is Paris.' });
  });

  it('changes nothing between a program that speaks OpenAI’s API and its engine, but the model', async () => {
    const own = { x: [1, null], reasoning_effort: 'high', guided_json: {}, temperature: 3 };
    const messages = [
      { role: 'critic', content: [{ type: 'image_url', image_url: { url: 'data:,' } }], x: 1 },
      { role: 'user', content: 'a'.repeat(100_000) },
      { role: 'assistant', content: null, reasoning_content: 'Hm.' },
    ];
    const asked = { model: project, messages, ...own };
    const usage = { prompt_tokens: 1, completion_tokens: 2, x: 3 };
    const choice = { index: 0, message: { role: 'assistant', content: null, reasoning_content: 'So.' }, x: 4 };
    const whole = { ...completion('big-model', null), choices: [{ ...choice, finish_reason: 'odd' }], usage, x: 5 };
    engine.script = answering(200, whole);
    const { status, body } = await app.post('/openai/v1/chat/completions', admin.apiKey, asked);
    expect({ status, body }).toEqual({ status: 200, body: { ...whole, model: project } });
    expect(engine.asked.at(-1)?.body).toEqual({ ...asked, model: 'big-model' });

    const delta = { role: 'assistant', reasoning_content: 'So.' };
    const chunks = [chunk('big-model', delta, null, { usage: null, x: 6 }), chunk('big-model', {}, 'stop', { x: 7 })];
    engine.script = streaming(...chunks, chunk('big-model', null, null, { usage }), '[DONE]');
    const stream = { ...asked, stream: true, stream_options: { x: 8 } };
    const events = await app.post('/openai/v1/chat/completions', admin.apiKey, stream);
    const data = (one: object) => `data: ${JSON.stringify(one)}\n\n`;
    const [first, last] = [{ model: '' }, { model: project, usage: undefined }]; // the model becomes the first field
    const sent = chunks.map((one) => data({ ...first, ...one, ...last }));
    expect(events.body).toBe(`${sent.join('')}data: [DONE]\n\n`);
    const options = { x: 8, include_usage: true };
    expect(engine.asked.at(-1)?.body).toEqual({ ...stream, model: 'big-model', stream_options: options });
  });

  it.each<[string, readonly unknown[]]>([
    ['ends without a reason', []],
    ['sends nonsense', ['nonsense']],
    ['goes on with another model', [chunk('other-model', { content: 'Hi' })]],
  ])('refuses a stream with an ordinary status if its engine %s after the role', async (_, then) => {
    engine.script = streaming(chunk('big-model', { role: 'assistant', content: '', refusal: null }), ...then);
    const json = { model: project, messages: [{ role: 'user', content: 'Hi' }], stream: true };
    const { status, body } = await app.post('/openai/v1/chat/completions', admin.apiKey, json);
    expect([status, body.error.code]).toEqual([502, 'runtime_invalid_response']);
  });

  it('changes nothing between a program that asks for embeddings and its engine, but the model', async () => {
    const asked = { model: project, input: ['a', 'b'], encoding_format: 'float', input_type: 'query', x: [null] };
    const data = [0, 1].map((index) => ({ object: 'embedding', index, embedding: [index, 0.5], x: 1 }));
    const answer = { object: 'list', data, model: 'big-model', usage: { prompt_tokens: 2, x: 3 }, x: 4 };
    engine.script = answering(200, answer);
    const { status, body } = await app.post('/openai/v1/embeddings', admin.apiKey, asked);
    expect({ status, body }).toEqual({ status: 200, body: { ...answer, model: project } });
    expect(engine.asked.at(-1)?.body).toEqual({ ...asked, model: 'big-model' });
    for (const input of ['', [], ['a', ''], [1, 2], ['a', 1]])
      expect((await app.post('/openai/v1/embeddings', admin.apiKey, { ...asked, input })).status).toBe(400);
  });

  it('tells the engine what a budget leaves, and asks again without it if that is more than the context', async () => {
    const own = await readyProject(app, admin.token, spec());
    const about = { scope: 'project', scope_id: own, unit: 'tokens', limit: 1_000, period: 'total' };
    const { body: budget } = await app.post('/v1/budgets', admin.token, about);
    engine.script = (asked, response) => {
      const isTooLong = asked.body.max_tokens > 4_096;
      const error = { object: 'error', message: "This model's maximum context length is 4096 tokens." };
      if (isTooLong) sendJson(response, 400, error);
      else speaking()(asked, response);
    };
    const told = async () => {
      const before = engine.asked.length;
      const json = { model: own, messages: [{ role: 'user', content: 'Hi' }] };
      expect((await app.post('/openai/v1/chat/completions', admin.apiKey, json)).status).toBe(200);
      return engine.asked.slice(before).map(({ body }) => body.max_tokens);
    };
    const [least] = await told();
    expect(least > 500 && least < 1_000).toBe(true);
    const json = { limit: 1_000_000 };
    const { body } = await app.call('PATCH', `/v1/budgets/${budget.id}`, { token: admin.token, json });
    expect(body).toMatchObject({ settled: '13.000000000', held: '0.000000000' });
    expect(await told()).toEqual([131_072, undefined]);
    await app.delete(`/v1/budgets/${budget.id}`, admin.token);
  });

  it('passes on what the engine says about a request of a program that speaks OpenAI’s API, without its key', async () => {
    const refused = async (status: number, error: unknown) => {
      engine.script = answering(status, error);
      const json = { model: project, messages: [{ role: 'user', content: 'Hi' }] };
      const { status: own, body } = await app.post('/openai/v1/chat/completions', admin.apiKey, json);
      return `${own} ${body.error.code} ${body.error.param}: ${body.error.message}`;
    };
    expect(await refused(400, { error: { message: 'no n', param: 'n' } })).toBe('400 invalid_request n: no n');
    expect(await refused(422, { object: 'error', message: `${KEY} is odd` })).toBe(
      '400 invalid_request null: *** is odd',
    );
    expect(await refused(400, { error: { message: 'maximum context length is 9' } })).toBe(
      '400 context_length_exceeded messages: maximum context length is 9',
    );
    expect(await refused(400, 'what?')).toMatch(/^502 runtime_invalid_response/);
    expect(await refused(404, { error: { message: 'no such model' } })).toMatch(/^502 runtime_invalid_response/);
  });

  it.each<[number, string, string | null, string | null, unknown, Script]>([
    [
      422,
      'context_length_exceeded',
      null,
      null,
      OpenAI.UnprocessableEntityError,
      answering(400, 'exceed_context_size'),
    ],
    [429, 'model_busy', '7', null, OpenAI.RateLimitError, answering(429, {}, { 'Retry-After': '7' })],
    [502, 'runtime_invalid_response', null, 'false', OpenAI.InternalServerError, answering(200, 'nonsense')],
    [503, 'runtime_loading', '7', null, OpenAI.InternalServerError, answering(503, {}, { 'Retry-After': '7' })],
    [503, 'runtime_unavailable', null, null, OpenAI.InternalServerError, answering(401, `Incorrect key ${KEY}`)],
    [504, 'inference_timeout', null, 'false', OpenAI.InternalServerError, () => undefined],
  ])('reports a failure with %i %s, which the openai library understands', async (...expected) => {
    const [status, code, wait, retry, type, script] = expected;
    engine.script = script;
    const [answer, error] = await Promise.all([chat({ max_tokens: 4 }), library().catch((error) => error)]);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(['retry-after', 'x-should-retry'].map((name) => answer.headers.get(name))).toEqual([wait, retry]);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ status, requestID: expect.stringMatching(/^req_/) });
  });

  it('refuses calls of the openai library with the class of the status', async () => {
    await expect(library('nonsense')).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(library(admin.apiKey, 'prj_none')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('tells why an engine cannot be used', async () => {
    const wrong = await startedProject(app, admin.token, spec({ key_setting: 'SERVICE_RUNTIME_KEY_WRONG' }));
    // The reason is shown between two attempts. During an attempt, the runtime is loading.
    const runtime = async () => (await app.get(`/v1/projects/${wrong}/runtime`, admin.token)).body;
    await until('it says why', async () => (await runtime()).reason === 'the engine refused the key');
    expect(await chat({}, wrong)).toMatchObject({ status: 503, body: { code: expect.stringMatching(/^runtime_/) } });
  });

  it('connects only to hosts that are allowed', async () => {
    const bare = await createProject(app, admin.token);
    const model = await registeredModel(app, admin.token, bare, spec({ base_url: 'http://127.0.0.1:1' }));
    const { status, body } = await app.put(`/v1/projects/${bare}/runtime`, admin.token, { model_id: model });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.error).toMatch(/^spec\.base_url: .*SERVICE_RUNTIME_ALLOWED_HOSTS/);
  });

  it('shows the key to nobody', () => {
    const log = JSON.stringify(app.logger.lines);
    expect(log).toContain('chat runtime unavailable');
    for (const key of [KEY, OTHER_KEY, 'Incorrect']) expect(log + seen.join('')).not.toContain(key);
  });

  it('answers large questions with large answers one after another if the memory has room for one of them', async () => {
    const part = { role: 'user', content: '漢'.repeat(15_000) };
    const question = ask(project, '', { messages: [part, part, part, part] });
    const working: ServerResponse[] = [];
    engine.script = (_, response) => {
      working.push(response);
      if (working.length < 4) return;
      for (const one of working) sendJson(one, 200, completion('big-model', 'x'.repeat(4_100_000)));
    };
    const call = () => app.post(completions(project), admin.apiKey, question);
    const answers = await Promise.all([call(), call(), call(), call()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('serves the callers of a busy engine in turns, and none of them can fill the queue for the others', async () => {
    const modest = await register(app, 'Mia');
    /** Maps each question that the engine has not answered yet to the response for its answer. */
    const working = new Map<string, ServerResponse>();
    const call = (by: Member, name: string) => app.post(completions(project), by.apiKey, ask(project, name));
    /** Lets the engine answer one call. Returns the question of its next call. */
    const answer = async (name: string) => {
      const { length } = engine.asked;
      sendJson(working.get(name) as ServerResponse, 200, completion('big-model', `about ${name}`));
      working.delete(name);
      await engine.wasAsked(length + 1);
      return engine.asked[length]?.body.messages[0].content;
    };
    engine.script = ({ body }, response) => working.set(body.messages[0].content, response);
    const before = engine.asked.length;
    const first = Array.from({ length: AT_ONCE }, (_, n) => call(admin, `a${n}`));
    await engine.wasAsked(before + AT_ONCE);
    // Six more calls arrive in any order. The queue takes five of them and refuses one.
    const outcomes = new Map<string, number>();
    const noted = (by: Member, name: string) => call(by, name).then(({ status }) => outcomes.set(name, status));
    const waiting = Array.from({ length: 6 }, (_, n) => noted(admin, `w${n}`));
    await Promise.race(waiting);
    expect([...outcomes.values()]).toEqual([429]);
    // A call of another account takes the place of a waiting call, and is served next.
    const other = noted(modest, 'b');
    await Promise.race(waiting.filter((_, n) => !outcomes.has(`w${n}`)));
    expect([...outcomes.values()]).toEqual([429, 429]);
    expect(await answer('a1')).toBe('b');
    expect(await answer('a2')).toMatch(/^w/);
    engine.script = speaking();
    for (const [name, response] of working) sendJson(response, 200, completion('big-model', name));
    await Promise.all([...waiting, other]);
    expect([...outcomes.values()].sort()).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200));
  });
});
