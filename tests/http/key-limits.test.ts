import { Authority } from '../../src/application/accounts/authority.js';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { BudgetGuard } from '../../src/application/spend/budget-guard.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { until } from '../support/until.js';
import { ask, completions, type Member, readyProject } from '../support/workspace.js';
import { refusal, statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const CHAT = '/openai/v1/chat/completions';
const limited = refusal(429, 'rate_limited');

describe('the limits of a key', () => {
  let app: TestApp;
  let admin: Member;
  let project: string;
  /** Each runtime answers one call after another. */
  let second: string;
  let third: string;
  let deployment: string;
  /** Lets the calls that hang go on. */
  let release: () => void;
  let released: Promise<void>;
  const asked: ChatRequest[] = [];

  beforeAll(async () => {
    const answer = async (request: ChatRequest, signal: AbortSignal) => {
      asked.push(request);
      if (request.messages.at(-1)?.content !== 'hang') return 'one two';
      const left = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      await Promise.race([released, left]);
      return 'one two';
    };
    ({ app, admin } = await TestApp.withTeam({
      adapt: (container) => {
        const models = { chat: { answer }, embed: { embed: () => undefined } };
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes(models));
        const servers = new MemoryModelServer(async () => ({ status: 200, text: '{"outputs":{}}' }));
        container.rebind(ModelServer).toConstantValue(servers);
      },
    }));
    await app.verifyEmails();
    project = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat' });
    second = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat' });
    third = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat' });
    deployment = (await app.post('/v1/deployments', admin.token, { name: 'iris', model_path: 'iris.onnx' })).body.id;
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    asked.length = 0;
    released = new Promise((resolve) => (release = resolve));
  });
  afterEach(() => release());

  const mint = async (json: object) =>
    (await app.post('/v1/keys', admin.token, json)).body as { id: string; key: string };
  const change = (id: string, json: object) => app.call('PATCH', `/v1/keys/${id}`, { token: admin.token, json });
  const chat = (token: string, word = 'Hi', more: object = {}, id = third) =>
    app.post(CHAT, token, ask(id, word, more));
  const hanging = (token: string, more: object = {}, id = project) => chat(token, 'hang', more, id);
  const wasAsked = (times: number) =>
    until(
      () => `${asked.length} calls`,
      () => asked.length === times,
    );

  it('of requests counts all its requests, and says in each answer what is left', async () => {
    const { id, key } = await mint({ requests_per_minute: 3 });
    const first = await app.get('/v1/status', key);
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('3');
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('2');
    expect((await chat(key)).status).toBe(200);
    expect((await app.get('/v1/jobs?limit=1', key)).status).toBe(200);
    const refused = await app.get('/v1/jobs', key);
    expect(refused).toMatchObject(limited);
    expect(refused.body.error).toContain('3 requests with this API key per minute');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const theirs = await app.post('/openai/v1/messages', key, {});
    expect(theirs).toMatchObject({ status: 429, body: { type: 'error', error: { type: 'rate_limit_error' } } });
    expect((await chat(admin.apiKey)).status).toBe(200);
    expect((await change(id, { version: 1, requests_per_minute: 9 })).status).toBe(200);
    expect((await app.get('/v1/status', key)).status).toBe(200);
    app.clock.advance(61_000);
    for (let nth = 0; nth < 9; nth++) await app.get('/v1/status', key);
    expect(await app.get('/v1/status', key)).toMatchObject(limited);
  });

  it('of calls at the same time hold for each kind of call, and end with the calls', async () => {
    const { key } = await mint({ max_concurrent: 2 });
    const running = [hanging(key), app.post(completions(second), key, ask(second, 'hang'))];
    await wasAsked(2);
    const refused = await chat(key);
    expect(statusAndCode(refused)).toBe('429 rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.body.error.message).toContain('2 calls of models at the same time');
    const predict = await app.post(`/v1/deployments/${deployment}/predict`, key, { inputs: {} });
    expect(predict).toMatchObject(limited);
    expect(statusAndCode(await chat(key, 'Hi', { stream: true }))).toBe('429 rate_limited');
    const background = { model: project, input: 'Hi', background: true };
    expect((await app.post('/openai/v1/responses', key, background)).status).toBe(200); // it waits in the queue
    expect((await app.get('/v1/jobs', key)).status).toBe(200);
    expect((await chat(admin.apiKey)).status).toBe(200);
    release();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    for (const word of ['Hi', 'Ho', 'Hu']) expect((await chat(key, word)).status).toBe(200);
    expect((await app.post(`/v1/deployments/${deployment}/predict`, key, { inputs: {} })).status).toBe(200);
  });

  it('hold from the next call on when they are changed, and no more when they are removed', async () => {
    const { id, key } = await mint({});
    const running = hanging(key);
    await wasAsked(1);
    expect((await change(id, { version: 1, max_concurrent: 1 })).status).toBe(200);
    const counted = hanging(key, {}, second);
    await wasAsked(2);
    expect((await chat(key)).status).toBe(429);
    expect((await change(id, { version: 2, max_concurrent: null })).status).toBe(200);
    expect((await chat(key)).status).toBe(200);
    release();
    expect((await Promise.all([running, counted])).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('of calls at the same time come back from a call that its caller leaves', async () => {
    const { key } = await mint({ max_concurrent: 1 });
    const caller = new AbortController();
    const left = app.call('POST', CHAT, { token: key, json: ask(project, 'hang'), signal: caller.signal });
    await wasAsked(1);
    expect((await chat(key)).status).toBe(429);
    caller.abort();
    await expect(left).rejects.toThrow();
    await until(
      () => 'a place',
      async () => (await chat(key)).status === 200,
    );
  });

  it('of tokens refuse what has no room in this minute, cut what has no bound, and begin anew', async () => {
    app.clock.set(new Date(Math.ceil(app.clock.now().getTime() / 60_000) * 60_000 + 40_000));
    const { key } = await mint({ tokens_per_minute: 500 });
    const huge = await chat(key, 'Hi', { max_tokens: 5_000 });
    expect(statusAndCode(huge)).toBe('429 rate_limited');
    expect(huge.body.error.message).toMatch(
      /this call alone can take more: send a shorter prompt or a smaller max_tokens/,
    );
    expect(huge.headers.get('x-should-retry')).toBe('false');
    expect((await chat(key)).status).toBe(200);
    expect(asked.at(-1)?.maxTokens).toBeLessThan(500);
    const running = hanging(key, { max_tokens: 300 });
    await wasAsked(2);
    const refused = await chat(key, 'Hi', { max_tokens: 300 });
    expect(statusAndCode(refused)).toBe('429 rate_limited');
    expect(refused.body.error.message).toMatch(/is too little for this call: try again in \d+ s/);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(20);
    expect(refused.headers.get('x-should-retry')).toBeNull();
    expect((await chat(admin.apiKey)).status).toBe(200);
    release();
    expect((await running).status).toBe(200);
    const { body } = await app.get('/v1/budgets', admin.token);
    expect(body.budgets).toEqual([]);
    app.clock.advance(21_000);
    expect((await chat(key, 'Hi', { max_tokens: 300 })).status).toBe(200);
  });

  it('cost the calls of other keys no further statement', async () => {
    const run = jest.spyOn(app.container.get(BudgetGuard), 'take');
    await mint({ max_concurrent: 1 });
    expect((await chat(admin.apiKey)).status).toBe(200);
    expect((await app.post(`/v1/deployments/${deployment}/predict`, admin.apiKey, { inputs: {} })).status).toBe(200);
    expect(run).not.toHaveBeenCalled();
    const { key } = await mint({ max_concurrent: 1 });
    expect((await chat(key)).status).toBe(200);
    expect(run).toHaveBeenCalledTimes(1);
    run.mockRestore();
  });

  const takenAway: [string, () => object][] = [
    ['the permission', () => ({ permissions: ['read'] })],
    ['the project', () => ({ projects: [second] })],
  ];
  it.each(takenAway)('end a running call within two seconds when its key loses %s', async (_, lost) => {
    const { id, key } = await mint({});
    const { key: kept } = await mint({});
    const [ending, going] = [hanging(key), hanging(kept, {}, second)];
    await wasAsked(2);
    expect((await change(id, { version: 1, ...lost() })).status).toBe(200);
    expect(statusAndCode(await ending)).toBe('403 key_restricted');
    release();
    expect((await going).status).toBe(200);
  });

  it('let a running call go on when its key keeps the project', async () => {
    const { id, key } = await mint({});
    const going = hanging(key);
    await wasAsked(1);
    expect((await change(id, { version: 1, projects: [project], permissions: ['chat'] })).status).toBe(200);
    const checks = jest.spyOn(app.container.get(Authority), 'lost');
    await until(
      () => 'two checks of running calls',
      () => checks.mock.calls.length >= 2,
    );
    checks.mockRestore();
    release();
    expect((await going).status).toBe(200);
  });
});
