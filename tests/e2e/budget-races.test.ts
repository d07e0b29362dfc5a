import { atOnce } from '../support/barrier.js';
import { Draw } from '../support/draw.js';
import { BOUND, LEFT, Ledger, type Outcome, outcomes } from '../support/ledger-engine.js';
import { Pair } from '../support/pair.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { until } from '../support/until.js';
import { type Member, readyProject, register, untilState } from '../support/workspace.js';

const PARTIES = 200;
/** The number of calls that the budgets are worth. */
const WORTH = 20;

/** Each test continues from the state of the test before. */
describe('budgets on two instances', () => {
  let engine: ScriptedEngine;
  let ledger: Ledger;
  let pair: Pair;
  let admin: Member;
  let project: string;
  let calls = 0;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    pair = await Pair.start({ SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host });
    admin = await register(pair.one, 'Ada');
    // A token of an answer costs 1.
    const prices = { input: 0, output: 1_000_000 };
    project = await readyProject(pair.one, admin.token, {
      runtime: 'openai',
      base_url: engine.url,
      model: 'm',
      prices,
    });
    await untilState(pair.other, admin.token, project, 'ready');
  });
  afterAll(async () => {
    await pair.stop();
    await engine.close();
  });

  beforeEach(() => {
    ledger = new Ledger();
    engine.script = ledger.script;
  });

  const read = async (id: string) => (await pair.one.get(`/v1/budgets/${id}`, admin.token)).body;
  /** Creates a budget that has room for so much. */
  const withRoom = async (unit: 'calls' | 'cost', room: number) => {
    const scope = { scope: 'account', scope_id: admin.id, unit, period: 'total', limit: 0 };
    const { body } = await pair.one.post('/v1/budgets', admin.token, scope);
    const before = Number(body.settled);
    const json = { limit: before + room };
    await pair.one.call('PATCH', `/v1/budgets/${body.id}`, { token: admin.token, json });
    const spent = async () => {
      const { settled, held } = await read(body.id);
      return { settled: Number(settled) - before, held: Number(held) };
    };
    const remove = () => pair.one.delete(`/v1/budgets/${body.id}`, admin.token);
    return { spent, remove };
  };
  const call = (party: number, outcome: Outcome, count = BOUND) =>
    ledger.call(pair.of(party), { token: admin.apiKey, project, outcome, count, name: String(++calls) });
  const tally = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length;
  const sumOfJobs = async () => {
    const sql = `SELECT coalesce(sum(cost), 0)::text AS cost FROM jobs WHERE mode = 'sync'`;
    return Number((await pair.query<{ cost: string }>(sql))[0]?.cost);
  };
  const usage = async () =>
    (await pair.one.get('/v1/usage?bucket=day', admin.token)).body.usage.map(({ cost }: { cost: string }) =>
      Number(cost),
    );

  it('serve one of two calls that both instances check at the same time, when they are worth one', async () => {
    const { spent, remove } = await withRoom('calls', 1);
    const statuses = await pair.race('budget_periods', 2, (party) => call(party, 'whole'));
    expect(statuses.sort()).toEqual([200, 429]);
    expect(await spent()).toEqual({ settled: 1, held: 0 });
    await remove();
  });

  it(`serve ${WORTH} of ${PARTIES} calls at once, when they are worth ${WORTH}`, async () => {
    const { spent, remove } = await withRoom('calls', WORTH);
    const statuses = await pair.race('budget_periods', PARTIES, (party) => call(party, 'whole'), { queued: PARTIES });
    expect({ served: tally(statuses, 200), refused: tally(statuses, 429) }).toEqual({
      served: WORTH,
      refused: PARTIES - WORTH,
    });
    expect(await spent()).toEqual({ settled: WORTH, held: 0 });
    expect(ledger).toMatchObject({ asked: WORTH, calls: WORTH });
    await remove();
  });

  it('count what an engine has made for callers who leave, streams that break and answers without sense', async () => {
    const draw = new Draw(7);
    const limit = WORTH * BOUND;
    const { spent, remove } = await withRoom('cost', limit);
    const before = await sumOfJobs();
    const seen = new Set<number>();
    for (;;) {
      const wave = await atOnce(PARTIES, (party) => call(party, draw.oneOf(outcomes), 1 + draw.below(BOUND)));
      for (const status of wave) seen.add(status);
      await until('all calls have ended', async () => (await spent()).held === 0);
      expect((await spent()).settled).toBe(ledger.tokens);
      expect((await spent()).settled).toBeLessThanOrEqual(limit);
      if (limit - ledger.tokens < BOUND) break;
    }
    expect([...seen].sort()).toEqual([LEFT, 200, 429, 502]);
    expect(await sumOfJobs()).toBe(before + ledger.tokens);
    expect(await usage()).toEqual([before + ledger.tokens]);
    await remove();
  });

  it('charge the calls of a killed instance, whose engine works on, and hold nothing for them', async () => {
    const { spent } = await withRoom('calls', WORTH);
    const onOne = atOnce(6, () => call(0, 'wait'));
    const onOther = atOnce(6, () => call(1, 'wait'));
    const running = `SELECT count(*)::integer AS count FROM jobs WHERE status = 'running'`;
    await until(
      'their beginning is stored',
      async () => (await pair.query<{ count: number }>(running))[0]?.count === 12,
    );
    const unstored = atOnce(PARTIES, () => call(1, 'wait'));
    await until('the engine works on all that it may', () => ledger.asked === WORTH, 5);
    await pair.other.kill();
    ledger.release();
    expect(tally(await onOne, 200)).toBe(6);
    expect(tally([...(await onOther), ...(await unstored)], LEFT)).toBeGreaterThanOrEqual(WORTH - 6);
    await until('the reaper has settled', async () => (await spent()).held === 0, 200);
    expect(await spent()).toEqual({ settled: WORTH, held: 0 });
    expect(ledger.calls).toBe(WORTH);
    expect(await call(0, 'whole')).toBe(429);
    pair.other = pair.one;
  });
});
