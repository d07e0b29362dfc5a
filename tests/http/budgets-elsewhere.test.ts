import { FailoverRig } from '../support/failover-rig.js';
import { answering, chunk, type Script, sendEvents } from '../support/scripted-engine.js';
import { until } from '../support/until.js';

const chats = '/openai/v1/chat/completions';
const texts = '/openai/v1/completions';

/** Answers each prompt, and does not say how many tokens that were. */
const silentAboutUsage: Script = ({ body: { model, stream } }, response) => {
  if (stream) {
    sendEvents(response, ...['one', ' two', ' three'].map((content) => chunk(model, { content })));
    sendEvents(response, chunk(model, {}, 'stop'), '[DONE]');
    response.end();
    return;
  }
  const message = { role: 'assistant', content: 'one two three' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  answering(200, { id: 'x', object: 'chat.completion', created: 1, model, choices })({} as never, response);
};

describe('budgets of calls to an engine elsewhere', () => {
  let rig: FailoverRig;
  let project: string;
  const budgets: string[] = [];

  beforeAll(async () => {
    rig = await FailoverRig.start();
    ({ id: project } = await rig.project(([model_id]) => ({ model_id })));
  });
  beforeEach(() => {
    rig.reset();
    Object.assign(rig.engines[0].paths, { chat: '/chat/completions' });
  });
  afterEach(async () => {
    for (const id of budgets.splice(0)) await rig.app.delete(`/v1/budgets/${id}`, rig.admin.token);
  });
  afterAll(() => rig.stop());

  const read = async (id: string) => (await rig.app.get(`/v1/budgets/${id}`, rig.admin.token)).body;
  /** Creates a budget with room for `room` tokens, unless `over` says something else. */
  const withRoom = async (room: number, over: object = {}) => {
    const about = { scope: 'project', scope_id: project, unit: 'tokens', period: 'total', limit: 0, ...over };
    const { body } = await rig.app.post('/v1/budgets', rig.admin.token, about);
    budgets.push(body.id);
    const json = { limit: Number(body.settled) + room };
    await rig.app.call('PATCH', `/v1/budgets/${body.id}`, { token: rig.admin.token, json });
    return { id: body.id as string, before: Number(body.settled) };
  };
  const ask = (path: string, json: object) => {
    const prompt = path === chats ? { messages: [{ role: 'user', content: 'Hi' }] } : { prompt: 'Hi' };
    return rig.app.post(path, rig.admin.apiKey, { model: project, ...prompt, ...json });
  };
  const sent = () => rig.engines[0].asked.at(-1)?.body;

  it.each([-1_000_000, -1, 0, 1.5, 1e300, '5000', [5]])(
    'tell the engine a bound instead of max_tokens: %j',
    async (odd) => {
      const { id, before } = await withRoom(5_000);
      await ask(chats, { max_tokens: odd });
      const { max_tokens: bound } = sent() ?? { max_tokens: 1 }; // a refusal asks nothing
      expect(bound).toBeGreaterThanOrEqual(1);
      expect(bound).toBeLessThanOrEqual(5_000);
      expect(await read(id)).toMatchObject({ held: '0.000000000' });
      expect(Number((await read(id)).settled)).toBeLessThanOrEqual(before + 5_000);
    },
  );

  it('hold the same bound that the engine gets, whatever its names', async () => {
    await withRoom(5_000);
    await ask(chats, { max_tokens: 7, max_completion_tokens: 5_000 });
    expect(sent()).toMatchObject({ max_tokens: 7, max_completion_tokens: 7 });
    await ask(chats, { max_tokens: 7, max_completion_tokens: '5000' });
    expect(sent()).toMatchObject({ max_tokens: 7, max_completion_tokens: 7 });
    await ask(chats, { max_completion_tokens: 9 });
    expect(sent()).toMatchObject({ max_completion_tokens: 9 });
    expect(sent()?.max_tokens).toBeUndefined();
  });

  it('tell the engine the usual bound of the completions API, or what remains', async () => {
    const { id } = await withRoom(2_000);
    Object.assign(rig.engines[0].paths, { chat: '/completions' });
    await ask(texts, {});
    expect(sent()).toMatchObject({ max_tokens: 16 });
    await rig.app.delete(`/v1/budgets/${id}`, rig.admin.token);
    await withRoom(300); // the prompt alone takes most of it
    rig.engines[0].asked.length = 0;
    const { status } = await ask(texts, { max_tokens: 400 });
    expect([status, rig.engines[0].asked.length]).toEqual([429, 0]);
  });

  it.each([
    [chats, { n: '8' }],
    [chats, { n: 129 }],
    [chats, { n: 1.5 }],
    [texts, { best_of: 1_000 }],
  ])('refuse a number of answers that they cannot count: %s %j', async (path, json) => {
    await withRoom(5_000);
    const { status, body } = await ask(path, json);
    expect([status, body.error.param]).toEqual([400, Object.keys(json)[0]]);
    expect(rig.engines[0].asked).toEqual([]);
  });

  it('hold each answer to each prompt', async () => {
    await withRoom(2_000);
    expect((await ask(chats, { n: 100, max_tokens: 30 })).status).toBe(429);
    expect((await ask(texts, { best_of: 100, max_tokens: 30 })).status).toBe(429);
    expect((await ask(texts, { prompt: Array.from({ length: 100 }, () => [1, 2]), max_tokens: 30 })).status).toBe(429);
    expect(rig.engines[0].asked).toEqual([]);
  });

  it.each(['calls', 'seconds', 'cost'])('add no bound to a request if they count no tokens: %s', async (unit) => {
    await withRoom(5, { unit });
    expect((await ask(chats, {})).status).toBe(200);
    expect(sent()?.max_tokens).toBeUndefined();
  });

  it('that only warn let every bound pass', async () => {
    const { id } = await withRoom(5, { on_exceed: 'alert' });
    const both = await Promise.all([ask(chats, { max_tokens: 1e300 }), ask(chats, { max_tokens: 5 })]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(await read(id)).toMatchObject({ held: '0.000000000' });
  });

  it('charge all that they hold for a whole answer that its caller has left', async () => {
    const { id, before } = await withRoom(5_000);
    rig.engines[0].script = () => undefined;
    const leaving = new AbortController();
    const json = { model: project, messages: [{ role: 'user', content: '東京の人口は？' }], max_tokens: 9 };
    const options = { token: rig.admin.apiKey, json, signal: leaving.signal };
    const answered = rig.app.call('POST', chats, options).catch(() => undefined);
    await until('the engine is asked', () => rig.engines[0].asked.length === 1);
    const held = Number((await read(id)).held);
    leaving.abort();
    await answered;
    await until('the hold is settled', async () => Number((await read(id)).held) === 0);
    expect(Number((await read(id)).settled) - before).toBe(held);
  });

  it('count the parts of a stream, or the bound, if the engine reports no tokens', async () => {
    const { id, before } = await withRoom(5_000);
    rig.engines[0].script = silentAboutUsage;
    await ask(chats, { stream: true });
    const streamed = Number((await read(id)).settled) - before;
    expect(streamed).toBeGreaterThanOrEqual(4); // the prompt, too
    await ask(chats, { max_tokens: 50 });
    const whole = Number((await read(id)).settled) - before - streamed;
    expect(whole).toBeGreaterThanOrEqual(51);
  });
});
