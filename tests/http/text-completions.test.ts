import OpenAI from 'openai';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { Clock } from '../../src/application/shared/ports.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { ChatRuntimesByEngine } from '../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { SystemClock } from '../../src/infrastructure/system/adapters.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { sendJson } from '../support/local-server.js';
import { masterKey } from '../support/monitoring.js';
import { answering, type Script, ScriptedEngine, streaming } from '../support/scripted-engine.js';
import { type Member, readyProject, register } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const path = '/openai/v1/completions';

const events = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => (data === '[DONE]' ? data : JSON.parse(data as string)));

describe('completions of texts', () => {
  let app: TestApp;
  let admin: Member;
  let ready: string;
  let asked: ChatRequest;
  const answer = (request: ChatRequest) => {
    asked = request;
    return 'Hello there';
  };

  beforeAll(async () => {
    ({ app, admin } = await TestApp.withTeam({
      env: { SERVICE_MASTER_KEY: masterKey },
      adapt: (container) =>
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes({ 'tiny-chat': { answer } })),
    }));
    ready = await readyProject(app, admin.token);
  });
  afterAll(() => app.stop());

  const complete = (over: object = {}) => app.post(path, admin.apiKey, { model: ready, prompt: 'Say', ...over });

  it('answers as OpenAI does', async () => {
    const { status, body } = await complete();
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        id: expect.stringMatching(/^cmpl-/),
        object: 'text_completion',
        created: Math.floor(app.clock.now().getTime() / 1000),
        model: ready,
        choices: [{ index: 0, text: 'Hello there', logprobs: null, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: 1,
          completion_tokens: 2,
          total_tokens: 3,
          prompt_tokens_details: { cached_tokens: 0 },
        },
      },
    });
    expect(asked).toEqual({ messages: [], texts: ['Say'], maxTokens: 16, cutToContext: true, temperature: 0 });
    await complete({ prompt: ['a', 'b'], max_tokens: 5, n: 2, temperature: 1, stop: 'x', seed: 3, logprobs: 2 });
    expect(asked).toEqual({
      messages: [],
      texts: ['a', 'b'],
      maxTokens: 5,
      cutToContext: true,
      temperature: 1,
      choices: 2,
      sampling: { stop: ['x'], seed: 3, topLogprobs: 2 },
    });
  });

  it('answers each text n times, and begins with the text if asked', async () => {
    const { body } = await complete({ prompt: ['One ', 'Two '], n: 2, echo: true, max_tokens: 1 });
    expect(body.choices.map(({ index, text }: { index: number; text: string }) => `${index} ${text}`)).toEqual([
      '0 One Hello',
      '1 One Hello',
      '2 Two Hello',
      '3 Two Hello',
    ]);
    expect(body.choices[3].finish_reason).toBe('length');
    expect(body.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4 });
  });

  it('streams one answer and several', async () => {
    const choice = (index: number, text: string, finish_reason: string | null = null) => [
      { index, text, logprobs: null, finish_reason },
    ];
    const choicesOf = async (over: object) => {
      const all = events((await complete({ stream: true, ...over })).body);
      expect(all.pop()).toBe('[DONE]');
      return all.map(({ choices, object }) => (object === 'text_completion' ? choices : object));
    };
    expect(await choicesOf({ echo: true })).toEqual([
      choice(0, 'SayHello'),
      choice(0, ' there'),
      choice(0, '', 'stop'),
    ]);
    expect(await choicesOf({ n: 2 })).toEqual([
      choice(0, 'Hello there'),
      choice(0, '', 'stop'),
      choice(1, 'Hello there'),
      choice(1, '', 'stop'),
    ]);
    const usage = events((await complete({ stream: true, stream_options: { include_usage: true } })).body);
    expect(usage.map((one) => (one === '[DONE]' ? one : one.usage?.total_tokens))).toEqual([
      undefined,
      undefined,
      undefined,
      3,
      '[DONE]',
    ]);
  });

  it.each<[object, string, string]>([
    [{ prompt: undefined }, 'invalid_request', 'prompt'],
    [{ prompt: '' }, 'invalid_request', 'prompt'],
    [{ prompt: [] }, 'invalid_request', 'prompt'],
    [{ prompt: [1, 2] }, 'invalid_request', 'prompt'],
    [{ prompt: [[1, 2]] }, 'invalid_request', 'prompt'],
    [{ prompt: Array(17).fill('a') }, 'invalid_request', 'prompt'],
    [{ n: 9 }, 'invalid_request', 'n'],
    [{ best_of: 2 }, 'unsupported_parameter', 'best_of'],
    [{ logprobs: 6 }, 'invalid_request', 'logprobs'],
    [{ logprobs: 1, echo: true }, 'invalid_request', 'echo'],
    [{ stream_options: {} }, 'invalid_request', 'stream_options'],
    [{ suffix: 'end' }, 'unsupported_parameter', 'suffix'],
    [{ tools: [] }, 'unknown_parameter', 'tools'],
    [{ model: 1 }, 'invalid_request', 'model'],
  ])('refuses %j', async (over, code, param) => {
    const refused = await complete(over);
    expect(statusAndCode(refused)).toBe(`400 ${code}`);
    expect(refused.body.error.param).toMatch(param);
    if (param === 'prompt') expect(refused.body.error.message).toMatch(/text that is not empty/);
  });

  it('takes the defaults of other programs', async () => {
    const harmless = { suffix: null, best_of: 1, echo: false, logprobs: null, n: 1, user: 'me', stop: null };
    expect(statusAndCode(await complete(harmless))).toBe('200 undefined');
  });

  it('names the prompt if it does not fit', async () => {
    for (const stream of [false, true]) {
      const { status, body } = await complete({ prompt: 'a '.repeat(300), stream });
      const error = { code: 'context_length_exceeded', param: 'prompt' };
      expect({ status, ...body.error }).toMatchObject({ status: 400, ...error });
    }
  });
});

describe('completions of texts by an engine elsewhere', () => {
  let engine: ScriptedEngine;
  let app: TestApp;
  let admin: Member;
  let project: string;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    engine.paths = { ...engine.paths, chat: '/completions' };
    app = await TestApp.start({
      adapt: (container) => {
        container.rebind(ChatRuntimes).to(ChatRuntimesByEngine).inSingletonScope();
        container.rebind(Clock).toConstantValue(new SystemClock());
      },
      env: { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host },
    });
    admin = await register(app, 'Ada');
    project = await readyProject(app, admin.token, { runtime: 'openai', base_url: engine.url, model: 'big-model' });
  });
  afterAll(async () => {
    await app.container.get(ChatRuntimes).close();
    await app.stop();
    await engine.close();
  });

  const choice = (index: number, text: string, finish_reason: string | null) => ({
    index,
    text,
    finish_reason,
    x: [1],
  });
  const completion = (over: object = {}) => ({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'big-model',
    choices: [choice(0, ' Paris', 'stop'), choice(1, ' Lyon', 'length')],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    ...over,
  });
  const complete = (over: object = {}) => app.post(path, admin.apiKey, { model: project, prompt: 'Say', ...over });

  it('get the request as it was sent, and their answer comes back as it is', async () => {
    engine.script = answering(200, completion());
    const sent = { prompt: [[1, 2]], suffix: '!', best_of: 3, echo: true, logprobs: 9, n: 200, guided_regex: 'a+' };
    expect(await complete(sent)).toMatchObject({ status: 200, body: { ...completion(), model: project } });
    expect(engine.asked.at(-1)?.body).toEqual({ ...sent, model: 'big-model' });
  });

  it('stream their events as they are', async () => {
    const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } };
    const { usage: _, ...head } = completion();
    const sent = [
      { ...head, choices: [choice(0, '', null)] },
      { ...head, choices: [choice(1, ' Lyon', null), choice(0, ' Paris', null)] },
      { ...head, choices: [choice(0, '', 'stop')] },
      { ...head, choices: [choice(1, '', 'stop')] },
    ];
    engine.script = streaming(...sent, { ...head, ...usage }, '[DONE]');
    const { status, body } = await complete({ stream: true });
    expect(status).toBe(200);
    expect(events(body)).toEqual([...sent.map((one) => ({ ...one, model: project })), '[DONE]']);
    expect(engine.asked.at(-1)?.body).toMatchObject({ stream_options: { include_usage: true } });
  });

  it('refuse with their own words, and invalid answers are 502', async () => {
    engine.script = answering(400, { error: { message: 'suffix is too odd', param: 'suffix' } });
    const refused = await complete({ suffix: '!' });
    expect(refused).toMatchObject({ status: 400, body: { error: { message: 'suffix is too odd', param: 'suffix' } } });
    const odd: Script[] = [
      answering(200, completion({ object: 'chat.completion' })),
      answering(200, completion({ choices: [{ message: { content: 'a' } }] })),
      answering(200, completion({ model: 'other' })),
      (_, response) => sendJson(response, 200, 'text'),
    ];
    for (const script of odd) {
      engine.script = script;
      expect(statusAndCode(await complete())).toBe('502 runtime_invalid_response');
    }
  });

  it('answer OpenAI’s library', async () => {
    engine.script = answering(200, completion());
    const { port } = app.server.address() as { port: number };
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/openai/v1`, apiKey: admin.apiKey });
    const { choices } = await client.completions.create({ model: project, prompt: 'Say' });
    expect(choices[0]?.text).toBe(' Paris');
  });
});
