import { Client } from 'pg';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ResponseRunner } from '../../src/application/chat/response-runner.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { RuntimeInvalidResponse } from '../../src/domain/chat/errors.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { masterKey } from '../support/monitoring.js';
import { until } from '../support/until.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  readyProject,
  register,
  registeredModel,
} from '../support/workspace.js';
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

  const predict = async (body: string) => (body.includes('hang') ? never() : { status: 200, text: '{"outputs":{}}' });

  beforeAll(async () => {
    const models = { chat: { answer }, embed: { embed: () => undefined } };
    app = await TestApp.start({
      env: { SERVICE_MASTER_KEY: masterKey },
      adapt: (container) => {
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes(models));
        const servers = new MemoryModelServer(predict);
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
    const [session] = (await app.get('/v1/auth/sessions', admin.token)).body.sessions;
    for (const [scope, wanted] of [
      ['project', 'must be the id of a project of your team'],
      ['team', 'must be the id of your team'],
      ['key', 'must be the id of a key of your team'],
    ])
      expect(await create({ scope, scope_id: session.id })).toMatchObject({
        status: 422,
        body: { code: 'invalid_request', details: [{ path: 'scope_id', message: wanted }] },
      });
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
      [`/v1/deployments/${deployment}/v2/models/iris/versions/1/infer`, { inputs: [] }],
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

  it('count the tokens of the texts of an embedding before the call', async () => {
    const { id } = await withRoom(3, { unit: 'tokens' });
    const embed = (input: string) => app.post('/openai/v1/embeddings', admin.apiKey, { model: embedder, input });
    expect((await embed('one two three four')).status).toBe(429);
    expect((await embed('one two three')).status).toBe(200);
    expect(await read(id)).toMatchObject({ held: '0.000000000', remaining: '0.000000000' });
  });

  it('multiply what they hold by the number of answers, and cut each of them', async () => {
    await withRoom(13, { unit: 'tokens' });
    expect((await chat('Hi', { n: 3, max_tokens: 5 })).status).toBe(429);
    expect((await chat('Hi', { n: 3 })).status).toBe(200);
    expect(asked.at(-1)).toMatchObject({ choices: 3, maxTokens: 4 });
  });

  it.each(['a chat', 'a stream', 'a prediction'])('cut the time of %s to the seconds that remain', async (kind) => {
    const { id } = await withRoom(0.2, { unit: 'seconds' });
    const called =
      kind === 'a prediction'
        ? app.post(`/v1/deployments/${deployment}/predict`, admin.apiKey, { inputs: { x: 'hang' } })
        : chat('hang', { stream: kind === 'a stream' });
    const { status, body } = await called;
    const code =
      kind === 'a prediction' ? body.code : (body.error ?? JSON.parse(body.split('data: ').at(-1)).error).code;
    expect([kind === 'a stream' || status === 504, code]).toEqual([true, 'inference_timeout']);
    expect(await read(id)).toMatchObject({ held: '0.000000000', remaining: '0.200000000' });
  });

  it('show no end of a period that has none, and nothing that remains below zero as more', async () => {
    const { id } = await withRoom(1);
    expect((await chat('Hi')).status).toBe(200);
    const { body } = await app.call('PATCH', `/v1/budgets/${id}`, { token: admin.token, json: { limit: 0 } });
    expect(body).toMatchObject({ resets_at: null, limit: 0, remaining: `-${body.settled}` });
    const { body: minute } = await create({ period: 'minute', limit: 0 });
    await app.delete(`/v1/budgets/${id}`, admin.token);
    const { headers } = await chat('Hi');
    expect([headers.get('x-budget-id'), headers.get('x-should-retry')]).toEqual([minute.id, null]);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    const seconds = minute.resets_at - app.clock.now().getTime() / 1_000;
    expect(seconds > 0 && seconds <= 60).toBe(true);
  });

  it('are managed by accounts only for their own keys, and not if an admin has created or changed them', async () => {
    const member = await register(app, 'Mia');
    const [key] = (await app.get('/v1/keys', member.token)).body.keys;
    const [ofAdmin] = (await app.get('/v1/keys', admin.token)).body.keys;
    const ofKey = (id: string, token: string) => create({ scope: 'key', scope_id: id, limit: 5 }, token);
    const { body: own } = await ofKey(key.id, member.token);
    const { body: set } = await ofKey(key.id, admin.token);
    expect(statusAndCode(await ofKey(ofAdmin.id, member.token))).toBe('403 forbidden');
    expect(statusAndCode(await create({ scope_id: member.id }, member.token))).toBe('403 forbidden');
    const { body: hidden } = await create({});
    const seen = (await app.get('/v1/budgets', member.token)).body.budgets.map(({ id }: { id: string }) => id);
    expect(seen).toEqual([set.id, own.id]);
    const change = async (id: string) =>
      statusAndCode(await app.call('PATCH', `/v1/budgets/${id}`, { token: member.token, json: { limit: 9 } }));
    const remove = async (id: string) => statusAndCode(await app.delete(`/v1/budgets/${id}`, member.token));
    expect([await change(set.id), await remove(set.id)]).toEqual(['403 forbidden', '403 forbidden']);
    expect([await change(hidden.id), await remove(hidden.id)]).toEqual(['404 not_found', '404 not_found']);
    expect([await change(own.id), await remove(own.id)]).toEqual(['200 undefined', '200 undefined']);
    const { body: lowered } = await ofKey(key.id, member.token);
    await app.call('PATCH', `/v1/budgets/${lowered.id}`, { token: admin.token, json: { limit: 1 } });
    expect([await change(lowered.id), await remove(lowered.id)]).toEqual(['403 forbidden', '403 forbidden']);
    const nothing = await app.call('PATCH', `/v1/budgets/${set.id}`, { token: admin.token, json: {} });
    expect(nothing).toMatchObject({ status: 200, body: { limit: 5, on_exceed: 'refuse' } });
    expect((await app.delete(`/v1/keys/${key.id}`, member.token)).status).toBe(200);
    expect(statusAndCode(await app.get(`/v1/budgets/${set.id}`, admin.token))).toBe('404 not_found');
  });

  it.each(['minute', 'total'])(
    'let a response in the background wait for room in the period `%s`, and fail after a day',
    async (period) => {
      const { id: budget } = (await create({ limit: 0, period })).body;
      const queued = async () => {
        const request = { model: project, input: 'Hi', background: true };
        return (await app.post('/openai/v1/responses', admin.apiKey, request)).body.id as string;
      };
      const run = async (id: string) => {
        const attempt = { number: 1, signal: new AbortController().signal };
        await app.container.get(ResponseRunner).run({ response_id: id }, attempt);
        return (await app.get(`/openai/v1/responses/${id}`, admin.apiKey)).body;
      };
      const patient = await queued();
      await expect(run(patient)).rejects.toMatchObject({ counts: false, pauseMs: expect.any(Number) });
      app.clock.advance(23 * 3_600_000);
      await expect(run(patient)).rejects.toMatchObject({ counts: false });
      const lucky = await queued();
      app.clock.advance(3_600_000);
      expect(await run(patient)).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining(budget) },
      });
      await expect(run(lucky)).rejects.toMatchObject({ counts: false });
      await app.delete(`/v1/budgets/${budget}`, admin.token);
      expect(await run(lucky)).toMatchObject({ status: 'completed' });
    },
  );

  it('cost a team without any no statement of the database, and another team one for each call', async () => {
    const statements: string[] = [];
    const { query } = Client.prototype;
    const spied = jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args) {
      const [{ name }] = args as never as [{ name?: string }];
      if (name) statements.push(name);
      return Reflect.apply(query, this, args);
    });
    const ofChat = async () => {
      statements.length = 0;
      expect((await app.post(completions(project), admin.apiKey, ask(project, 'Hi'))).status).toBe(200);
      return statements.map((name) => name.replace(/ jobs .*/, ' jobs'));
    };
    try {
      await ofChat();
      const plain = await ofChat();
      expect(plain).toEqual(['holder by digest', 'runtime of a project', 'end of jobs']);
      await withRoom(5);
      const [first, second, ...others] = plain;
      expect(await ofChat()).toEqual([first, second, 'holds of calls', ...others]);
    } finally {
      spied.mockRestore();
    }
  });

  it('let the review of a project warn if they limit costs and one of its models has no prices', async () => {
    const mixed = await createProject(app, admin.token);
    const specs = [
      { runtime: 'onnx', path: 'chat', prices: { input: 1, output: 1 } },
      { runtime: 'onnx', path: 'chat' },
    ];
    const models: string[] = [];
    for (const spec of specs) models.push(await registeredModel(app, admin.token, mixed, spec));
    const codes = async (id: string) => {
      const { body } = await app.post(`/v1/projects/${id}/plan`, admin.token, { version: 1 });
      return body.findings
        .map(({ code }: { code: string }) => code)
        .filter((code: string) => code === 'model_unpriced');
    };
    await create({ unit: 'calls' });
    expect(await codes(embedder)).toEqual([]);
    await create({ unit: 'cost' });
    expect([await codes(embedder), await codes(project)]).toEqual([['model_unpriced'], []]);
    const [model_id, fallback] = models;
    for (const [connected, expected] of [
      [{ model_id }, []],
      [{ model_id, fallbacks: [fallback] }, ['model_unpriced']],
    ] as const) {
      await app.put(`/v1/projects/${mixed}/runtime`, admin.token, connected);
      expect(await codes(mixed)).toEqual(expected);
    }
  });

  it('of the kind `alert` refuse nothing', async () => {
    const { body } = await create({ limit: 0, on_exceed: 'alert' });
    const { settled } = await read(body.id);
    expect((await chat('Hi')).status).toBe(200);
    expect(Number((await read(body.id)).settled)).toBe(Number(settled) + 1);
  });
});
