import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { RuntimeInvalidResponse } from '../../src/domain/chat/errors.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { masterKey } from '../support/monitoring.js';
import { until } from '../support/until.js';
import { ask, completions, type Member, readyProject, register } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const never = () => new Promise<never>(() => undefined);

describe('budgets', () => {
  let app: TestApp;
  let admin: Member;
  let project: string;
  let embedder: string;
  let deployment: string;
  let begun = (): void => undefined;
  const asked: ChatRequest[] = [];

  const answer = (request: ChatRequest) => {
    asked.push(request);
    begun();
    const word = request.messages.at(-1)?.content;
    if (word === 'fail') throw new RuntimeInvalidResponse('it is nonsense.');
    return word === 'hang' ? never() : 'one two';
  };

  beforeAll(async () => {
    const models = { chat: { answer }, embed: { embed: () => undefined } };
    app = await TestApp.start({
      env: { SERVICE_MASTER_KEY: masterKey },
      adapt: (container) => {
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes(models));
        const servers = new MemoryModelServer(async () => ({ status: 200, text: '{"outputs":{}}' }));
        container.rebind(ModelServer).toConstantValue(servers);
      },
    });
    admin = await register(app, 'Ada');
    const prices = { input: 0, output: 0, per_call: 1 };
    project = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat', prices });
    embedder = await readyProject(app, admin.token, { runtime: 'onnx', path: 'embed' });
    const { body } = await app.post('/v1/deployments', admin.token, { name: 'iris', model_path: 'iris.onnx' });
    deployment = body.id;
  });
  afterAll(() => app.stop());

  const budgets: string[] = [];
  const create = async (over: object, token = admin.token) => {
    const about = { scope: 'account', scope_id: admin.id, unit: 'calls', limit: 1, period: 'total', ...over };
    const answered = await app.post('/v1/budgets', token, about);
    if (answered.status === 201) budgets.push(answered.body.id);
    return answered;
  };
  afterEach(async () => {
    for (const id of budgets.splice(0)) await app.delete(`/v1/budgets/${id}`, admin.token);
  });
  const read = async (id: string) => (await app.get(`/v1/budgets/${id}`, admin.token)).body;
  /** Creates a budget that has room for `limit` more than the account has already taken. */
  const withRoom = async (limit: number, over: object = {}) => {
    const { body } = await create({ limit: 0, ...over });
    const json = { limit: Number(body.settled) + limit };
    const { body: changed } = await app.call('PATCH', `/v1/budgets/${body.id}`, { token: admin.token, json });
    return changed as { id: string; limit: number };
  };
  const chat = (word: string, more: object = {}, signal?: AbortSignal) =>
    app.call('POST', '/openai/v1/chat/completions', { token: admin.apiKey, json: ask(project, word, more), signal });

  it('show what is settled, held and left, and are for admins or for the own keys', async () => {
    const { status, body } = await create({ unit: 'cost', limit: 20.5, period: 'month' });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        ...{ scope: 'account', scope_id: admin.id, unit: 'cost', limit: 20.5, period: 'month', on_exceed: 'refuse' },
        ...{ held: '0.000000000', settled: '0.000000000', remaining: '20.500000000', currency: 'USD' },
        resets_at: expect.any(Number),
      },
    });
    expect(await read(body.id)).toEqual(body);
    expect((await app.get('/v1/budgets?limit=1', admin.token)).body).toEqual({
      budgets: [body],
      count: 1,
      next_cursor: null,
    });
    expect(statusAndCode(await create({ limit: -1 }))).toBe('422 invalid_request');
    expect(statusAndCode(await create({ limit: 1.5 }))).toBe('422 invalid_request');
    expect(statusAndCode(await create({ scope: 'project', scope_id: 'prj_nobody' }))).toBe('422 invalid_request');
    expect(statusAndCode(await app.get('/v1/budgets/bud_nobody', admin.token))).toBe('404 not_found');
  });

  it('refuse each kind of call beyond them, with the id of the budget', async () => {
    const { id } = await withRoom(0);
    const refused = await app.post(completions(project), admin.apiKey, ask(project, 'Hi'));
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'budget_exceeded', details: [{ budget_id: id, scope: 'account' }] },
    });
    const { headers } = refused;
    expect(['x-budget-id', 'retry-after', 'x-should-retry'].map((name) => headers.get(name))).toEqual([
      id,
      '60',
      'false',
    ]);
    const stream = await chat('Hi', { stream: true });
    expect([stream.status, stream.body.error.code, stream.headers.get('x-budget-id')]).toEqual([
      429,
      'budget_exceeded',
      id,
    ]);
    const calls = [
      ['/openai/v1/responses', { model: project, input: 'Hi' }],
      ['/openai/v1/messages', { model: project, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }],
      ['/openai/v1/completions', { model: project, prompt: 'Hi' }],
      ['/openai/v1/embeddings', { model: embedder, input: 'Hi' }],
      [`/v1/deployments/${deployment}/predict`, {}],
      [`/v1/deployments/${deployment}/v2/models/iris/infer`, { inputs: [] }],
    ] as const;
    for (const [path, body] of calls) {
      const answered = await app.post(path, admin.apiKey, body);
      expect([path, answered.status, answered.headers.get('x-budget-id')]).toEqual([path, 429, id]);
    }
    expect(await read(id)).toMatchObject({ held: '0.000000000', remaining: '0.000000000' });
  });

  it('count a call that is answered, and neither one that fails nor one that is refused', async () => {
    const { id } = await withRoom(2);
    expect((await chat('fail')).status).toBe(502);
    expect(await read(id)).toMatchObject({ held: '0.000000000', remaining: '2.000000000' });
    expect((await chat('Hi')).status).toBe(200);
    expect((await chat('Hi')).status).toBe(200);
    expect((await chat('Hi')).status).toBe(429);
    expect(await read(id)).toMatchObject({ held: '0.000000000', remaining: '0.000000000' });
  });

  it('hold for a call that runs, and charge the bound of a whole answer that its caller has left', async () => {
    const { id } = await withRoom(50, { unit: 'tokens' });
    const leaving = new AbortController();
    const working = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const answered = chat('hang', { max_tokens: 30 }, leaving.signal).catch(() => undefined);
    await working;
    expect(await read(id)).toMatchObject({ held: '31.000000000', remaining: '19.000000000' });
    leaving.abort();
    await answered;
    await until('the hold is settled', async () => (await read(id)).held === '0.000000000');
    expect(await read(id)).toMatchObject({ remaining: '19.000000000' });
  });

  it('cut an answer without a bound to what remains', async () => {
    await withRoom(8, { unit: 'tokens' });
    expect((await chat('Hi')).status).toBe(200);
    expect(asked.at(-1)).toMatchObject({ maxTokens: 7 });
    expect((await chat('Hi', { max_tokens: 30 })).status).toBe(429);
  });

  it('of the kind `alert` refuse nothing', async () => {
    const { body } = await create({ limit: 0, on_exceed: 'alert' });
    const { settled } = await read(body.id);
    expect((await chat('Hi')).status).toBe(200);
    expect(Number((await read(body.id)).settled)).toBe(Number(settled) + 1);
  });
});
