import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ChatRuntimesByEngine } from '../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { sendJson } from '../support/local-server.js';
import { answering, completion, type Script, ScriptedEngine, speaking } from '../support/scripted-engine.js';
import { ask, completions, createProject, type Member, readyProject, register } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

/** Equals the number of calls that the service sends to an engine at once. */
const AT_ONCE = 32;

let engine: ScriptedEngine;
let app: TestApp;
let admin: Member;
let project: string;

beforeAll(async () => {
  engine = await ScriptedEngine.start();
  const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host, SERVICE_CHAT_QUEUE: '5' };
  app = await TestApp.start({
    env,
    adapt: (container) => container.rebind(ChatRuntimes).to(ChatRuntimesByEngine).inSingletonScope(),
  });
  admin = await register(app, 'Ada');
  project = await readyProject(app, admin.token, { runtime: 'openai', base_url: engine.url, model: 'm' });
});
afterEach(() => {
  engine.script = speaking();
});
afterAll(async () => {
  await app.container.get(ChatRuntimes).close();
  await app.stop();
  await engine.close();
});

/** Tests the unchanged library with a project as its base URL. */
describe('the openai library', () => {
  interface Call extends Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> {
    readonly apiKey?: string;
    readonly id?: string;
  }
  const create = ({ apiKey = admin.apiKey, id = project, ...more }: Call = {}) => {
    const client = new OpenAI({ apiKey, baseURL: `${app.url}/v1/projects/${id}`, maxRetries: 0 });
    return client.chat.completions.create({ model: id, messages: [{ role: 'user', content: 'Hi' }], ...more });
  };
  const failure = (call: Call = {}) =>
    create(call).then(
      () => null,
      (error: InstanceType<typeof OpenAI.APIError>) => error,
    );

  it('reads the answer', async () => {
    const answer = await create({ max_tokens: 20, temperature: 1, stream: false });
    expect(answer.id).toMatch(/^chatcmpl-/);
    expect(answer.object).toBe('chat.completion');
    expect(answer.model).toBe(project);
    expect(answer.choices[0]?.message).toEqual({ role: 'assistant', content: 'The capital of France is Paris.' });
    expect(answer.usage?.total_tokens).toBe(13);
    expect(answer.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
  });

  it('throws the error class of each status', async () => {
    const bare = await createProject(app, admin.token);
    expect(await failure({ apiKey: 'nonsense' })).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(await failure({ id: 'prj_none' })).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await failure({ model: 'gpt-4o' })).toBeInstanceOf(OpenAI.UnprocessableEntityError);
    expect(await failure({ top_p: 1 })).toBeInstanceOf(OpenAI.UnprocessableEntityError);
    expect(await failure({ id: bare })).toMatchObject({ status: 503 });
    const scripts: [number, unknown, Script][] = [
      [422, OpenAI.UnprocessableEntityError, answering(400, { error: { code: 'context_length_exceeded' } })],
      [429, OpenAI.RateLimitError, answering(429, {})],
      [502, OpenAI.InternalServerError, answering(200, 'nonsense')],
      [503, OpenAI.InternalServerError, answering(503, {})],
      [504, OpenAI.InternalServerError, answering(504, 'too late')],
    ];
    for (const [status, type, script] of scripts) {
      engine.script = script;
      const error = await failure();
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ status, requestID: expect.stringMatching(/^req_/) });
    }
  });
});

describe('callers of a busy engine', () => {
  let modest: Member;
  /** Maps each question that the engine has not answered yet to the response for its answer. */
  const working = new Map<string, ServerResponse>();
  const hold: Script = ({ body }, response) => working.set(body.messages[0].content, response);

  beforeAll(async () => {
    modest = await register(app, 'Mia');
  });

  const call = async (by: Member, name: string, signal?: AbortSignal) => {
    const json = ask(project, name);
    const options = { token: by.apiKey, json, ...(signal && { signal }) };
    return app.call('POST', completions(project), options).catch(() => null);
  };
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n + 1}`);
  /** Lets the engine answer one call. Returns the question of its next call. */
  const answer = async (name: string) => {
    const { length } = engine.asked;
    sendJson(working.get(name) as ServerResponse, 200, completion('m', `about ${name}`));
    working.delete(name);
    await engine.wasAsked(length + 1);
    return engine.asked[length]?.body.messages[0].content;
  };

  it('are served in turns, and none of them can fill the queue for the others', async () => {
    engine.script = hold;
    const before = engine.asked.length;
    const first = names('a', AT_ONCE).map((name) => call(admin, name));
    await engine.wasAsked(before + AT_ONCE);
    // Six more calls arrive in any order. The queue takes five of them and refuses one.
    const outcomes = new Map<string, number | undefined>();
    const noted = (by: Member, name: string) => call(by, name).then((it) => outcomes.set(name, it?.status));
    const waiting = names('w', 6).map((name) => noted(admin, name));
    await Promise.race(waiting);
    expect([...outcomes.values()]).toEqual([429]);
    // A call of another account takes the place of a waiting call, and is served next.
    const other = noted(modest, 'b1');
    await Promise.race(waiting.filter((_, n) => !outcomes.has(`w${n + 1}`)));
    expect([...outcomes.values()]).toEqual([429, 429]);
    expect(await answer('a1')).toBe('b1');
    expect(await answer('a2')).toMatch(/^w/);
    engine.script = ({ body }, response) => sendJson(response, 200, completion('m', body.messages[0].content));
    for (const [name, response] of working) sendJson(response, 200, completion('m', name));
    await Promise.all([...first, ...waiting, other]);
    expect([...outcomes.values()].sort()).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect((await Promise.all(first)).map((one) => one?.status)).toEqual(Array(AT_ONCE).fill(200));
  });
});
