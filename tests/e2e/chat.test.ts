import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { chatLimits } from '../../src/domain/chat/chat.js';
import { descendants } from '../support/processes.js';
import { Service } from '../support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  readyProject,
  register,
  registeredModel,
  untilState,
} from '../support/workspace.js';

const masterKey = 'master-key-of-the-tests';

describe('chat', () => {
  let service: Service;
  let admin: Member;
  let member: Member;
  let ready: string;
  let bare: string;

  beforeAll(async () => {
    service = await Service.start({ env: { SERVICE_MASTER_KEY: masterKey, SERVICE_CHAT_QUEUE: '0' } });
    admin = await register(service, 'Ada');
    member = await register(service, 'Mia');
    ready = await readyProject(service, admin.token);
    bare = await createProject(service, admin.token);
  });
  afterAll(() => service.stop());

  const chat = (json: object, { project = ready, token = admin.apiKey } = {}) =>
    service.post(completions(project), token, json);
  const message = { role: 'user', content: 'Hi' };
  const emoji = '\u{1F600}';

  it('answers every account of the team, by session or key', async () => {
    for (const token of [admin.token, admin.apiKey, member.token, member.apiKey]) {
      const { status, body } = await chat(ask(ready, 'What is 7 + 5?'), { token });
      expect({ status, text: body.choices[0].message.content }).toEqual({ status: 200, text: '7 + 5 = 12.' });
    }
    expect(await chat(ask(ready, 'Hi'), { token: masterKey })).toMatchObject({
      status: 401,
      body: { code: 'session_required' },
    });
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
  ])('refuses a bad %s (%#), whatever the runtime’s state', async (path, over) => {
    for (const project of [ready, bare]) {
      const { status, body } = await chat({ model: project, messages: [message], ...over }, { project });
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
      expect(body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
    }
  });

  it('refuses streaming and another model by codes of their own', async () => {
    for (const project of [ready, bare]) {
      const streamed = await chat({ model: 'x', messages: 1, stream: true, stream_options: {} }, { project });
      expect(streamed).toMatchObject({ status: 422, body: { code: 'streaming_unsupported' } });
      const other = await chat({ model: 'gpt-4o', messages: [message] }, { project });
      expect(other).toMatchObject({ status: 422, body: { code: 'model_mismatch' } });
    }
  });

  it('counts characters as code points, and takes each limit itself', async () => {
    const longest = { role: 'user', content: emoji.repeat(chatLimits.messageLength) };
    for (const messages of [[longest], Array(4).fill(longest), Array(100).fill(message)]) {
      const { status, body } = await chat(
        { model: bare, messages, max_tokens: 4096, temperature: 2 },
        { project: bare },
      );
      expect({ status, code: body.code }).toEqual({ status: 503, code: 'runtime_not_connected' });
    }
  });

  it('tells the state of the runtime, and whether a retry can help', async () => {
    const project = await createProject(service, admin.token);
    const runtime = `/v1/projects/${project}/runtime`;
    const state = async () => {
      const { status, body, headers } = await chat(ask(project, 'Hi'), { project });
      const retryAfter = Number(headers.get('retry-after') ?? 0);
      return [status, body.code, headers.get('x-should-retry'), retryAfter >= 1 && retryAfter <= 60];
    };
    expect(await state()).toEqual([503, 'runtime_not_connected', 'false', false]);
    for (const verb of ['start', 'stop']) {
      const { status, body, headers } = await service.post(`${runtime}/${verb}`, admin.token);
      expect({ status, code: body.code }).toEqual({ status: 409, code: 'runtime_not_connected' });
      expect(headers.get('x-should-retry')).toBe('false');
    }
    const model = await registeredModel(service, admin.token, project);
    await service.put(runtime, admin.token, { model_id: model });
    expect(await state()).toEqual([503, 'runtime_stopped', 'false', false]);
    await service.post(`${runtime}/start`, admin.token);
    expect(await state()).toEqual([503, 'runtime_loading', null, true]);
    await untilState(service, admin.token, project, 'ready');
    expect(await state()).toEqual([200, undefined, null, false]);
    const stopped = await service.post(`${runtime}/stop`, admin.token);
    expect(stopped).toMatchObject({ status: 200, body: { state: 'stopped', model_id: model } });
    expect(await state()).toEqual([503, 'runtime_stopped', 'false', false]);
    const gone = await service.delete(runtime, admin.token);
    expect(gone).toMatchObject({ status: 200, body: { id: project, deleted: true, state: 'not_connected' } });
    expect(await state()).toEqual([503, 'runtime_not_connected', 'false', false]);
  });

  it('goes by the runtime as it is when the whole of a slow request is there', async () => {
    const project = await readyProject(service, admin.token);
    const body = JSON.stringify(ask(project, 'hi'));
    const headers = { Authorization: `Bearer ${admin.apiKey}`, 'Content-Type': 'application/json' };
    const slow = request(service.url + completions(project), {
      method: 'POST',
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
    });
    slow.write(body.slice(0, 10));
    await once(slow, 'socket').then(([socket]) => socket.connecting && once(socket, 'connect'));
    for (let n = 0; n < 5; n++) await service.get('/v1/auth/me', admin.token); // it has been found out who calls
    expect((await service.post(`/v1/projects/${project}/runtime/stop`, admin.token)).status).toBe(200);
    slow.end(body.slice(10));
    const [answer] = await once(slow, 'response');
    expect([answer.statusCode, JSON.parse(await text(answer)).code]).toEqual([503, 'runtime_stopped']);
  });

  it('connects only a registered model whose folder lies below the models folders', async () => {
    const project = await createProject(service, admin.token);
    const runtime = `/v1/projects/${project}/runtime`;
    const connect = (model_id: unknown) => service.put(runtime, admin.token, { model_id });
    const { body: draft } = await service.post(`/v1/projects/${project}/models`, admin.token, {
      request_id: crypto.randomUUID(),
      spec: { runtime: 'onnx', path: 'tiny-chat' },
    });
    expect(await connect(draft.id)).toMatchObject({
      status: 422,
      body: { code: 'invalid_request', details: [{ path: 'model_id' }] },
    });
    expect(await connect(7)).toMatchObject({ status: 422, body: { details: [{ path: 'model_id' }] } });
    expect(await connect('mdl_unknown')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const elsewhere = await registeredModel(service, admin.token, ready);
    expect(await connect(elsewhere)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const specs: [object, string][] = [
      [{}, 'spec.runtime'],
      [{ runtime: 'magic', path: 'tiny-chat' }, 'spec.runtime'],
      [{ runtime: 'onnx' }, 'spec.path'],
      [{ runtime: 'onnx', path: '../src' }, 'spec.path'],
      [{ runtime: 'onnx', path: '/etc' }, 'spec.path'],
      [{ runtime: 'onnx', path: 'nothing-here' }, 'spec.path'],
      [{ runtime: 'onnx', path: '.' }, 'spec.path'],
    ];
    for (const [spec, path] of specs) {
      const { status, body } = await connect(await registeredModel(service, admin.token, project, spec));
      expect({ spec, status, path: body.details?.[0].path }).toEqual({ spec, status: 422, path });
    }
    expect((await service.get(runtime, admin.token)).body.state).toBe('not_connected');
  });

  it('refuses when the queue is full, and frees the place of a caller who goes away', async () => {
    const long = ask(ready, 'Count from 1 to 50.');
    const call = (signal?: AbortSignal) =>
      service.call('POST', completions(ready), {
        token: admin.apiKey,
        json: long,
        ...(signal && { signal }),
      });
    const [model] = service.pids.flatMap(descendants) as [number];
    process.kill(model, 'SIGSTOP');
    const calls = Array.from({ length: 60 }, () => call());
    expect((await Promise.race(calls)).status).toBe(429);
    process.kill(model, 'SIGCONT');
    const answers = await Promise.all(calls);
    const busy = answers.filter(({ status }) => status === 429);
    expect(busy.length).toBeLessThan(60);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60 - busy.length);
    for (const { body, headers } of busy) {
      expect(body.code).toBe('model_busy');
      expect(headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    }
    const goner = new AbortController();
    const gone = call(goner.signal);
    goner.abort();
    await expect(gone).rejects.toThrow();
    for (;;) {
      const { status } = await call();
      if (status === 200) break;
      expect(status).toBe(429);
    }
  });
});
