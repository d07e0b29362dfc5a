import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import type { ChatRequest, CompletionPart } from '../../src/domain/chat/chat.js';
import { RuntimeInvalidResponse } from '../../src/domain/chat/errors.js';
import { nanosOfCost } from '../../src/domain/spend/cost.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { masterKey } from '../support/monitoring.js';
import { until } from '../support/until.js';
import { ask, completions, draftModel, type Member, readyProject, register } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const never = () => new Promise<never>(() => undefined);
const prices = { input: 1_000_000, output: 500_000, per_call: 0.25 };

describe('the cost of a call', () => {
  let app: TestApp;
  let admin: Member;
  let project: string;
  let embedder: string;
  let deployment: string;
  let begun = (): void => undefined;

  const answer = ({ messages }: ChatRequest) => {
    begun();
    const word = messages.at(-1)?.content;
    if (word === 'fail') throw new RuntimeInvalidResponse('it is nonsense.');
    return word === 'hang' ? never() : 'one two';
  };
  async function* parts({ messages }: ChatRequest): AsyncIterable<CompletionPart> {
    const word = messages.at(-1)?.content;
    if (word === 'silent') throw new RuntimeInvalidResponse('it is nonsense.');
    for (const text of ['one', ' two', ' three']) yield { text };
    if (word === 'break') throw new RuntimeInvalidResponse('it broke.');
    if (word === 'hang') await never();
    const usage = { promptTokens: 4, cachedTokens: 0, completionTokens: 3 };
    yield { text: '', end: { finishReason: 'stop', usage } };
  }
  const models = { chat: { answer, parts }, embed: { embed: () => undefined } };

  beforeAll(async () => {
    app = await TestApp.start({
      env: { SERVICE_MASTER_KEY: masterKey, SERVICE_CURRENCY: 'EUR' },
      adapt: (container) => {
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes(models));
        container.rebind(ModelServer).toConstantValue(
          new MemoryModelServer(async () => {
            app.clock.advance(1_500);
            return { status: 200, text: '{"outputs":{}}' };
          }),
        );
      },
    });
    admin = await register(app, 'Ada');
    project = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat', prices });
    embedder = await readyProject(app, admin.token, {
      runtime: 'onnx',
      path: 'embed',
      prices: { input: 1, output: 0 },
    });
    const created = { name: 'iris', model_path: 'iris.onnx', prices: { per_call: 0.25, per_second: 0.1 } };
    const { body } = await app.post('/v1/deployments', admin.token, created);
    expect(body.prices).toEqual({ per_call: 0.25, per_second: 0.1 });
    deployment = body.id;
  });
  afterAll(() => app.stop());

  const chat = (word: string, more: object = {}, signal?: AbortSignal) =>
    app.call('POST', '/openai/v1/chat/completions', { token: admin.apiKey, json: ask(project, word, more), signal });
  const stream = (word: string) => chat(word, { stream: true });
  const newest = async (limit = 1) => (await app.get(`/v1/jobs?limit=${limit}`, admin.token)).body.jobs;
  const cost = async () => (await newest())[0].cost;

  it('is that of its tokens and of the call, in the currency of the service', async () => {
    expect((await chat('Hi there')).status).toBe(200);
    const [job] = await newest();
    expect(job).toMatchObject({ usage: { tokens_in: 2, tokens_out: 2 }, cost: '3.250000000', currency: 'EUR' });
    expect((await stream('Hi')).status).toBe(200);
    expect(await cost()).toBe('5.750000000'); // 4 tokens in, 3 out
    const own = await app.post(completions(project), admin.apiKey, ask(project, 'Hi'));
    expect(own.status).toBe(200);
    expect(await cost()).toBe('2.250000000');
  });

  it('is null without prices', async () => {
    const free = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat' });
    expect((await app.post(completions(free), admin.apiKey, ask(free, 'Hi'))).status).toBe(200);
    expect(await newest()).toMatchObject([{ project_id: free, cost: null }]);
    const { body } = await app.get('/v1/usage?group_by=project', admin.token);
    expect(body.usage.find(({ group }: { group: string }) => group === free)).toMatchObject({ cost: null });
  });

  it('is 0 for a call that failed before a part of its answer', async () => {
    expect((await chat('fail')).status).toBe(502);
    expect(await newest()).toMatchObject([{ status: 'failed', cost: '0.000000000' }]);
    expect((await stream('silent')).status).toBe(502);
    expect(await newest()).toMatchObject([{ status: 'failed', cost: '0.000000000' }]);
  });

  it('counts the parts of a stream that broke', async () => {
    await stream('break');
    const [job] = await newest();
    expect(job).toMatchObject({ status: 'failed', usage: { tokens_in: 2, tokens_out: 3 }, cost: '3.750000000' });
  });

  it('counts the parts of a stream that its caller has left', async () => {
    const leaving = new AbortController();
    const left = chat('hang', { stream: true }, leaving.signal).catch(() => undefined);
    await until('the call runs', async () => (await newest())[0].status === 'running');
    leaving.abort();
    await left;
    await until('the call is cancelled', async () => (await newest())[0].status === 'cancelled');
    expect(await newest()).toMatchObject([{ usage: { tokens_in: 1, tokens_out: 3 }, cost: '2.750000000' }]);
  });

  it('counts all tokens of a whole answer that its caller has left, because the engine does not tell', async () => {
    const leaving = new AbortController();
    const working = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const answered = chat('hang', { max_tokens: 7 }, leaving.signal).catch(() => undefined);
    await working;
    leaving.abort();
    await answered;
    await until('the call is cancelled', async () => (await newest())[0].status === 'cancelled');
    expect(await newest()).toMatchObject([{ usage: { tokens_in: 1, tokens_out: 7 }, cost: '4.750000000' }]);
  });

  it('is that of the texts of an embedding, and of the time of a prediction', async () => {
    const input = ['one two', 'three'];
    const vectors = await app.post('/openai/v1/embeddings', admin.apiKey, { model: embedder, input });
    expect(vectors.status).toBe(200);
    expect(await cost()).toBe('0.000003000');
    expect((await app.post(`/v1/deployments/${deployment}/predict`, admin.apiKey, {})).status).toBe(200);
    expect(await cost()).toBe('0.400000000');
  });

  it('has the same sum over the jobs and in the usage, by any bucket and group', async () => {
    const jobs = await newest(1_000);
    const sum = (costs: readonly (string | null)[]) =>
      costs.reduce((total, one) => total + (one === null ? 0n : nanosOfCost(one)), 0n);
    const expected = sum(jobs.map((job: { cost: string | null }) => job.cost));
    expect(expected).toBeGreaterThan(0n);
    for (const query of ['bucket=minute', 'bucket=day', 'group_by=account', 'group_by=model', 'group_by=key']) {
      const { body } = await app.get(`/v1/usage?${query}`, admin.token);
      expect(body.currency).toBe('EUR');
      expect(sum(body.usage.map((entry: { cost: string | null }) => entry.cost))).toBe(expected);
    }
  });

  it('needs prices that can be charged', async () => {
    const model = await draftModel(app, admin.token, project, { runtime: 'onnx', path: 'chat', prices: { input: 1 } });
    const path = `/v1/projects/${project}/models/${model.id}/register`;
    expect(await app.post(path, admin.token, { version: 1 })).toMatchObject({
      status: 422,
      body: { code: 'invalid_request', details: [{ path: 'spec.prices.output' }] },
    });
    for (const wrong of [5, { per_call: -1 }, { per_second: 'x' }, { per_call: 1e-10 }]) {
      const body = { name: 'iris', model_path: 'iris.onnx', prices: wrong };
      expect(await app.post('/v1/deployments', admin.token, body)).toMatchObject({ status: 422 });
    }
    const none = { name: 'iris', model_path: 'iris.onnx', prices: {} };
    expect(await app.post('/v1/deployments', admin.token, none)).toMatchObject({ status: 201, body: { prices: null } });
  });
});
