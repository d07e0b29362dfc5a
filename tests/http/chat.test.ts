import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { chatLimits } from '../../src/domain/chat/chat.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { masterKey } from '../support/monitoring.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  readyProject,
  registeredModel,
  untilState,
} from '../support/workspace.js';
import { invalid, refusal, stale } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const projects = '/v1/projects';

describe('chat', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  /** Names a project with a ready runtime. */
  let ready: string;
  /** Names a project without a runtime. */
  let bare: string;
  const runtimes = new MemoryChatRuntimes();

  beforeAll(async () => {
    ({ app, admin, member, stranger } = await TestApp.withTeam({
      env: { SERVICE_MASTER_KEY: masterKey },
      adapt: (container) => container.rebind(ChatRuntimes).toConstantValue(runtimes),
    }));
    ready = await readyProject(app, admin.token);
    bare = await createProject(app, admin.token);
  });
  afterAll(() => app.stop());

  const chat = (json: object, { project = ready, token = admin.apiKey } = {}) =>
    app.post(completions(project), token, json);
  const message = { role: 'user', content: 'Hi' };
  const emoji = '\u{1F600}';

  it('is for accounts, not for the master key', async () => {
    expect(await chat(ask(ready, 'Hi'), { token: masterKey })).toMatchObject(refusal(401, 'session_required'));
  });

  it.each([
    ['model', { model: undefined }],
    ['model', { model: 7 }],
    ['messages', { messages: undefined }],
    ['messages', { messages: 'Hi' }],
    ['messages', { messages: [] }],
    ['messages', { messages: Array(101).fill(message) }],
    ['messages', { messages: Array(199_000).fill(1) }],
    ['messages', { messages: [message, { role: 'assistant', content: 'Hello' }] }],
    ['messages', { messages: Array(5).fill({ role: 'user', content: 'x'.repeat(12_801) }) }],
    ['messages.0.role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages.0.content', { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] }],
    ['messages.0.content', { messages: [{ role: 'user' }] }],
    ['messages.0.content', { messages: [{ role: 'user', content: 'x'.repeat(16_001) }] }],
    ['messages.0.content', { messages: [{ role: 'user', content: emoji.repeat(16_001) }] }],
    ['messages.0.name', { messages: [{ ...message, name: 'Ada' }] }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: 4097 }],
    ['max_tokens', { max_tokens: 1.5 }],
    ['max_tokens', { max_tokens: '5' }],
    ['max_tokens', { max_tokens: null }],
    ['temperature', { temperature: -0.1 }],
    ['temperature', { temperature: 2.1 }],
    ['temperature', { temperature: '0' }],
    ['stream', { stream: 'yes' }],
    ['top_p', { top_p: 1 }],
  ])('refuses a bad %s in any state of the runtime (%#)', async (path, over) => {
    for (const project of [ready, bare]) {
      const answer = await chat({ model: project, messages: [message], ...over }, { project });
      expect(answer).toMatchObject(invalid(path));
    }
  });

  it('refuses streaming and another model with their own codes', async () => {
    for (const project of [ready, bare]) {
      const streamed = await chat({ model: 'x', messages: 1, stream: true, stream_options: {} }, { project });
      expect(streamed).toMatchObject(refusal(422, 'streaming_unsupported'));
      const other = await chat({ model: 'gpt-4o', messages: [message] }, { project });
      expect(other).toMatchObject(refusal(422, 'model_mismatch'));
    }
  });

  it('counts characters as code points, and accepts a request exactly at each limit', async () => {
    const longest = { role: 'user', content: emoji.repeat(chatLimits.messageLength) };
    for (const messages of [[longest], Array(4).fill(longest), Array(100).fill(message)]) {
      const json = { model: bare, messages, max_tokens: 4096, temperature: 2 };
      expect(await chat(json, { project: bare })).toMatchObject(refusal(503, 'runtime_not_connected'));
    }
  });

  it('tells the state of the runtime, and whether a retry can help', async () => {
    const project = await createProject(app, admin.token);
    const runtime = `/v1/projects/${project}/runtime`;
    const state = async () => {
      const { status, body, headers } = await chat(ask(project, 'Hi'), { project });
      const retryAfter = Number(headers.get('retry-after') ?? 0);
      return [status, body.code, headers.get('x-should-retry'), retryAfter >= 1 && retryAfter <= 60];
    };
    expect(await state()).toEqual([503, 'runtime_not_connected', 'false', false]);
    for (const verb of ['start', 'stop']) {
      const answer = await app.post(`${runtime}/${verb}`, admin.token);
      expect(answer).toMatchObject(refusal(409, 'runtime_not_connected'));
      expect(answer.headers.get('x-should-retry')).toBe('false');
    }
    const model = await registeredModel(app, admin.token, project);
    await app.put(runtime, admin.token, { model_id: model });
    expect(await state()).toEqual([503, 'runtime_stopped', 'false', false]);
    await app.post(`${runtime}/start`, admin.token);
    await untilState(app, admin.token, project, 'ready');
    expect(await state()).toEqual([200, undefined, null, false]);
    const stopped = await app.post(`${runtime}/stop`, admin.token);
    expect(stopped).toMatchObject({ status: 200, body: { state: 'stopped', model_id: model } });
    expect(await state()).toEqual([503, 'runtime_stopped', 'false', false]);
    const gone = await app.delete(runtime, admin.token);
    expect(gone).toMatchObject({ status: 200, body: { id: project, deleted: true, state: 'not_connected' } });
    expect(await state()).toEqual([503, 'runtime_not_connected', 'false', false]);
  });

  it('uses the state that the runtime has when a slow request has arrived whole', async () => {
    const project = await readyProject(app, admin.token);
    const body = JSON.stringify(ask(project, 'hi'));
    const headers = { Authorization: `Bearer ${admin.apiKey}`, 'Content-Type': 'application/json' };
    const slow = request(app.url + completions(project), {
      method: 'POST',
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
    });
    slow.write(body.slice(0, 10));
    await once(slow, 'socket').then(([socket]) => socket.connecting && once(socket, 'connect'));
    for (let n = 0; n < 5; n++) await app.get('/v1/auth/me', admin.token); // by now, the slow request is authenticated
    expect((await app.post(`/v1/projects/${project}/runtime/stop`, admin.token)).status).toBe(200);
    slow.end(body.slice(10));
    const [answer] = await once(slow, 'response');
    expect([answer.statusCode, JSON.parse(await text(answer)).code]).toEqual([503, 'runtime_stopped']);
  });

  it('lists only the projects of the caller’s team, with their models and runtimes', async () => {
    const id = await createProject(app, admin.token, { goal: 'b' });
    const model = await registeredModel(app, admin.token, id);
    await app.put(`${projects}/${id}/runtime`, admin.token, { model_id: model });
    const theirs = await createProject(app, stranger.token);
    const { body } = await app.get(projects, member.token);
    expect(body.projects[0]).toEqual((await app.get(`${projects}/${id}`, member.token)).body);
    expect(body.projects[0]).toMatchObject({ runtime: { state: 'stopped', model_id: model }, models: [{ id: model }] });
    expect(body).toMatchObject({ count: body.projects.length, next_cursor: null, conversations: [] });
    expect((await app.get(projects, stranger.token)).body.projects).toMatchObject([{ id: theirs }]);
  });

  it('lists only the caller’s conversations, the one with the newest turn first', async () => {
    const keep = async (token: string, conversation: string) => {
      const headers = { 'X-Conversation-Id': conversation };
      app.clock.advance(1_000);
      const answer = await app.call('POST', completions(ready), { token, json: ask(ready, 'Hi'), headers });
      return answer.headers.get('x-conversation-id') as string;
    };
    const conversations = async ({ token }: Member) => (await app.get(projects, token)).body.conversations;
    const [first, second] = [await keep(admin.apiKey, 'new'), await keep(admin.apiKey, 'new')];
    const mine = await keep(member.apiKey, 'new');
    await keep(admin.apiKey, first);
    expect(await conversations(admin)).toMatchObject([
      { id: first, project_id: ready, title: 'Hi', message_count: 4 },
      { id: second, message_count: 2 },
    ]);
    expect(await conversations(member)).toMatchObject([{ id: mine }]);
    expect(await conversations(stranger)).toEqual([]);
  });

  // This test must be the last one: it deletes the shared project.
  it('stops the runtime and deletes the conversations when an admin deletes the project', async () => {
    const path = `${projects}/${ready}`;
    await app.put(path, admin.token, { version: 1, spec: {} });
    expect(await app.delete(path, member.token)).toMatchObject(refusal(403, 'forbidden'));
    const guarded = await app.call('DELETE', path, { token: admin.token, headers: { 'If-Match': '"1"' } });
    expect(guarded).toMatchObject(stale(2));
    const before = runtimes.running;
    expect((await app.delete(path, admin.token)).body).toEqual({ id: ready, deleted: true });
    expect(runtimes.running).toBe(before - 1);
    expect((await app.get(projects, admin.token)).body.conversations).toEqual([]);
    for (const below of ['', '/runtime', '/versions', '/versions/1'])
      expect((await app.get(path + below, admin.token)).status).toBe(404);
    expect((await app.delete(path, admin.token)).status).toBe(404);
  });
});
