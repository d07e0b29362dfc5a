import { atOnce } from '../support/barrier.js';
import type { Answer } from '../support/http-caller.js';
import { sendJson } from '../support/local-server.js';
import { Pair } from '../support/pair.js';
import { completion, ScriptedEngine } from '../support/scripted-engine.js';
import { until } from '../support/until.js';
import { ask, createProject, type Member, register, registeredModel, untilState } from '../support/workspace.js';

const CHAT = '/openai/v1/chat/completions';
const CALLERS = 24;

/** The engine is the barrier: it holds all calls that the instances let through, until nobody is undecided. */
describe('the limits of a key on two instances', () => {
  let engine: ScriptedEngine;
  let pair: Pair;
  let admin: Member;
  let project: string;
  let open: () => void;
  let opened: Promise<void>;
  let running = 0;
  let most = 0;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    pair = await Pair.start({ SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host, SERVICE_RATE_LIMIT_PER_MIN: '100000' });
    admin = await register(pair.one, 'Ada');
    await pair.query('UPDATE accounts SET email_verified_at = now()');
    project = await createProject(pair.one, admin.token);
    const spec = { runtime: 'openai', base_url: engine.url, model: 'far' };
    const model = await registeredModel(pair.one, admin.token, project, spec);
    await pair.one.put(`/v1/projects/${project}/runtime`, admin.token, { model_id: model });
    await pair.one.post(`/v1/projects/${project}/runtime/start`, admin.token);
    for (const one of [pair.one, pair.other]) await untilState(one, admin.token, project, 'ready');
    engine.script = async (_, response) => {
      running += 1;
      most = Math.max(most, running);
      await opened;
      running -= 1;
      sendJson(response, 200, completion('far', 'Hello', { usage: { prompt_tokens: 7, completion_tokens: 6 } }));
    };
  });
  afterAll(async () => {
    await pair.stop();
    await engine.close();
  });
  beforeEach(() => {
    most = 0;
    opened = new Promise((resolve) => (open = resolve));
  });
  afterEach(() => open());

  const mint = async (json: object) =>
    (await pair.other.post('/v1/keys', admin.token, json)).body as { id: string; key: string };
  const chat = (party: number, token: string) =>
    pair.of(party).post(CHAT, token, ask(project, 'Hi', { max_tokens: 100 }));

  /** Sends many calls at once to both, and lets the engine answer when each call has reached it or is refused. */
  async function race(token: string, whileHeld = async () => {}): Promise<Answer[]> {
    const before = engine.asked.length;
    let refused = 0;
    const answers = atOnce(CALLERS, async (party) => {
      const answer = await chat(party, token);
      if (answer.status === 429) refused += 1;
      return answer;
    });
    const decided = () => engine.asked.length - before + refused;
    await until(
      () => `${decided()} calls are decided`,
      () => decided() === CALLERS,
    );
    await whileHeld();
    open();
    return answers;
  }
  const served = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200).length;

  it('let exactly as many calls run at once as the key may', async () => {
    const { key } = await mint({ max_concurrent: 5 });
    const answers = await race(key);
    expect(served(answers)).toBe(5);
    expect(most).toBe(5);
    const [refused] = answers.filter(({ status }) => status !== 200);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    for (const party of [0, 1]) expect((await chat(party, key)).status).toBe(200);
  });

  it('let as many calls run as have room in the tokens of a minute, then count what they took', async () => {
    await until('the minute lasts', () => new Date().getSeconds() < 45, 500);
    const { id, key } = await mint({ tokens_per_minute: 1_500 });
    let held = 0;
    const answers = await race(key, async () => {
      const sql = 'SELECT held FROM budget_periods WHERE budget_id = $1';
      held = Number((await pair.query<{ held: string }>(sql, [`${id} tokens`]))[0]?.held);
    });
    const count = served(answers);
    expect(count).toBeGreaterThan(1);
    expect(held).toBeLessThanOrEqual(1_500);
    expect(held + held / count).toBeGreaterThan(1_500); // one more call would have had no room
    const more = [await chat(0, key), await chat(1, key)];
    expect(served(more)).toBe(2); // each call has taken 13 tokens
  });

  it('give the places of a killed instance to other calls', async () => {
    const { key } = await mint({ max_concurrent: 2 });
    const before = engine.asked.length;
    const lost = [0, 0].map((party) => chat(party, key).catch(() => null));
    await until('both run', () => engine.asked.length === before + 2);
    expect((await chat(1, key)).status).toBe(429);
    await pair.one.kill();
    await Promise.all(lost);
    open();
    const isServed = async () => (await chat(1, key)).status === 200;
    await until('a place is free again', isServed, 200);
    await pair.restart();
  });
});
