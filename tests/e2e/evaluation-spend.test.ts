import { gate } from '../support/barrier.js';
import { answering, type Evaluated, ended, evaluatedProject, records } from '../support/evaluations.js';
import { masterKey } from '../support/monitoring.js';
import { Pair } from '../support/pair.js';
import { answering as refusing, ScriptedEngine } from '../support/scripted-engine.js';
import { until } from '../support/until.js';
import { type Member, register, untilState } from '../support/workspace.js';

const units = ['cost', 'tokens', 'calls', 'seconds'] as const;
type Unit = (typeof units)[number];
type Amounts = Record<Unit, number>;

/** The engine reports 5 and 2 tokens. */
const prices = { input: 100_000, output: 200_000, per_call: 0.000_000_001 };
const COST = 0.900_000_001;

/** Each test continues from the state of the test before. */
describe('the calls of evaluations', () => {
  let engine: ScriptedEngine;
  let pair: Pair;
  let admin: Member;
  let subject: Evaluated;
  const budgets = new Map<Unit, string>();

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    engine.script = answering();
    pair = await Pair.start({ SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host, SERVICE_MASTER_KEY: masterKey });
    admin = await register(pair.one, 'Ada');
    await pair.query('UPDATE accounts SET email_verified_at = now()');
    const model = { runtime: 'openai', base_url: engine.url, model: 'm', prices };
    const spec = { goal: 'Answer', acceptance: { metric: 'normalized' } };
    subject = await evaluatedProject(pair.one, admin.token, { spec, model, rows: records(10) });
    await untilState(pair.other, admin.token, subject.project, 'ready');
  });
  afterAll(async () => {
    await pair.stop();
    await engine.close();
  });

  const read = async (path: string) => (await pair.other.get(path, admin.token)).body;
  const create = async (unit: Unit, over: object = {}) => {
    const about = { scope: 'project', scope_id: subject.project, unit, limit: 1_000_000, period: 'total', ...over };
    const { status, body } = await pair.other.post('/v1/budgets', admin.token, about);
    expect(status).toBe(201);
    return body as { id: string; settled: string };
  };
  const start = async (token = admin.token): Promise<string> => {
    const json = { kind: 'evaluation', project_id: subject.project, dataset_id: subject.dataset };
    return (await pair.other.post('/v1/jobs', token, json)).body.id;
  };
  const amountsOfBudgets = async (): Promise<Amounts> => {
    const read = async (id: string) => (await pair.other.get(`/v1/budgets/${id}`, admin.token)).body;
    const found = await Promise.all([...budgets].map(async ([unit, id]) => [unit, await read(id)] as const));
    expect(found.map(([, { held }]) => held)).toEqual(found.map(() => '0.000000000'));
    return Object.fromEntries(found.map(([unit, { settled }]) => [unit, Number(settled)])) as Amounts;
  };
  const amountsOfJob = ({ cost, usage }: { cost: string; usage: Record<string, number> }): Amounts => ({
    cost: Number(cost),
    tokens: (usage.tokens_in as number) + (usage.tokens_out as number),
    calls: usage.calls as number,
    seconds: Number((usage.seconds as number).toFixed(3)),
  });
  const plus = (one: Amounts, other: Amounts): Amounts =>
    Object.fromEntries(units.map((unit) => [unit, Number((one[unit] + other[unit]).toFixed(9))])) as Amounts;
  /** Returns the usage of the project, grouped by this. Usage has no seconds. */
  const usageBy = async (
    groupBy: string,
  ): Promise<{ group: string; cost: string; tokens: number; calls: number }[]> => {
    const { usage } = await read(`/v1/usage?bucket=hour&group_by=${groupBy}`);
    return usage.map((entry: Record<string, unknown>) => {
      const { failures, tokens_in, tokens_out } = entry as { failures: object; tokens_in: number; tokens_out: number };
      const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
      return {
        group: entry.group,
        cost: entry.cost,
        tokens: tokens_in + tokens_out,
        calls: Number(entry.calls) - failed,
      };
    });
  };
  /** Compares usage by each group with these amounts, before and after it is rolled up. */
  const expectUsage = async ({ cost, tokens, calls }: Amounts) => {
    const groups = { project: subject.project, model: subject.model, account: admin.id };
    for (const [groupBy, group] of Object.entries(groups))
      expect([groupBy, await usageBy(groupBy)]).toEqual([groupBy, [{ group, cost: cost.toFixed(9), tokens, calls }]]);
  };
  /** Creates a budget of each unit that expects to see these amounts already, and deletes it. */
  const expectNewBudgets = async (amounts: Amounts) => {
    for (const unit of units)
      for (const period of ['total', 'day']) {
        const { id, settled } = await create(unit, { period });
        expect([unit, period, Number(settled)]).toEqual([unit, period, amounts[unit]]);
        await pair.other.delete(`/v1/budgets/${id}`, admin.token);
      }
  };
  const rolledUp = () =>
    until('the calls are rolled up', async () => {
      const [row] = await pair.query<{ done: boolean }>(
        'SELECT finish_number >= (SELECT max(finish_number) FROM own_calls) AS done FROM usage_progress',
      );
      return row?.done === true;
    });
  const metric = async () => {
    const texts = await Promise.all([pair.one, pair.other].map((one) => one.get('/metrics', masterKey)));
    const values = texts.map(({ body }) => /^tenon_cost_total\{.*\} (\S+)$/m.exec(body)?.[1] ?? '0');
    return values.reduce((sum, value) => sum + Number(value), 0);
  };

  let total: Amounts;

  it('count in the job, in usage and in metrics without any budget, and in budgets that are created later', async () => {
    const job = await ended(pair.other, admin.token, await start());
    expect(job).toMatchObject({ status: 'succeeded', cost: (10 * COST).toFixed(9), currency: 'USD' });
    expect(job.usage).toMatchObject({ tokens_in: 50, tokens_out: 20, calls: 10, time_to_first_token: null });
    const { results } = await read(`/v1/jobs/${job.id}/results?limit=100`);
    expect(results.map(({ model_id }: { model_id: string }) => model_id)).toEqual(Array(10).fill(subject.model));
    total = amountsOfJob(job);
    await expectUsage(total);
    expect(await metric()).toBeCloseTo(total.cost, 9);
    await expectNewBudgets(total);
    await rolledUp();
    await expectUsage(total);
  });

  it('take from budgets what the job shows, and nothing for calls that failed', async () => {
    for (const unit of units) budgets.set(unit, (await create(unit)).id);
    const answer = answering();
    engine.script = async (asked, response) => {
      const isThird = engine.asked.length % 3 === 0;
      await new Promise((resolve) => setTimeout(resolve, 5)); // so that it takes measurable time
      if (isThird) refusing(500, { error: { message: 'no' } })(asked, response);
      else answer(asked, response);
    };
    engine.asked.length = 0;
    const job = await ended(pair.other, admin.token, await start(admin.apiKey));
    expect(job).toMatchObject({ status: 'succeeded', cost: (10 * COST).toFixed(9), usage: { calls: 10 } });
    expect(engine.asked.length).toBeGreaterThan(10);
    total = plus(total, amountsOfJob(job));
    expect(total.seconds).toBeGreaterThan(0.03);
    expect(await amountsOfBudgets()).toEqual(total);
    const { usage } = await read('/v1/usage?bucket=hour&group_by=key');
    expect(usage).toMatchObject([
      { group: null, cost: (10 * COST).toFixed(9), failures: {} },
      {
        cost: job.cost,
        tokens_in: 50,
        tokens_out: 20,
        failures: { runtime_invalid_response: engine.asked.length - 10 },
      },
    ]);
    await expectUsage(total);
    await expectNewBudgets(total);
  });

  it('fire a rule of a budget while the evaluation runs', async () => {
    const about = { name: 'half', rule_type: 'budget_used', threshold: 0.5, budget_id: budgets.get('calls') };
    const budget = `/v1/budgets/${budgets.get('calls')}`;
    const setLimit = (limit: number) => pair.other.call('PATCH', budget, { token: admin.token, json: { limit } });
    await setLimit(2 * (total.calls + 5));
    const { body: rule } = await pair.other.post('/v1/alerts/rules', admin.token, about);
    const { opened, open } = gate();
    engine.script = (asked, response) => {
      const isLast = asked.body.messages.at(-1).content === 'question 10';
      if (isLast) void opened.then(() => answering()(asked, response));
      else answering()(asked, response);
    };
    const alerts = async () =>
      (await read('/v1/alerts')).alerts.filter(({ rule_id }: { rule_id: string }) => rule_id === rule.id);
    const id = await start();
    await until('the rule fires', async () => (await alerts()).length === 1);
    expect(await alerts()).toMatchObject([{ job_id: id }]);
    expect(await read(`/v1/jobs/${id}`)).toMatchObject({ status: 'running' });
    open();
    total = plus(total, amountsOfJob(await ended(pair.other, admin.token, id)));
    expect(await alerts()).toHaveLength(1);
    await setLimit(1_000_000);
    expect(await amountsOfBudgets()).toEqual(total);
  });

  it('count after kill -9 as their budgets do: for each record that was asked twice, also the first call', async () => {
    const { opened, open } = gate();
    engine.asked.length = 0;
    engine.script = async (asked, response) => {
      if (engine.asked.length < 5) answering()(asked, response);
      else await opened.then(() => response.destroy());
    };
    const asked = engine.wasAsked(5);
    const id = await start();
    await asked;
    const isOnOne = pair.one.errors
      .split('\n')
      .some((line) => line.includes('"event":"job runs"') && line.includes(id));
    const dying = isOnOne ? pair.one : pair.other;
    const survivor = isOnOne ? pair.other : pair.one;
    pair.one = survivor;
    pair.other = survivor;
    await dying.kill();
    engine.script = answering();
    open();
    const job = await ended(pair.other, admin.token, id);
    expect(job).toMatchObject({ status: 'succeeded', usage: { calls: 11 } });
    await until('the holds are settled', async () => (await pair.query('SELECT FROM budget_holds')).length === 0);
    const shown = await read(`/v1/jobs/${id}`);
    expect(amountsOfJob(shown).tokens).toBeGreaterThan(70);
    total = plus(total, amountsOfJob(shown));
    expect(await amountsOfBudgets()).toEqual(total);
    await expectNewBudgets(total);
  });
});
