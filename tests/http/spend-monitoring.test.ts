import { Client } from 'pg';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { FINISHING } from '../../src/application/jobs/job-finisher.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { RuntimeInvalidResponse } from '../../src/domain/chat/errors.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { closeBreakers } from '../support/closed-breakers.js';
import { query } from '../support/database.js';
import { as, masterKey } from '../support/monitoring.js';
import { until } from '../support/until.js';
import { ask, completions, readyProject } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const rules = '/v1/alerts/rules';

describe('the monitoring of spend: alert rules and metrics', () => {
  let app: TestApp;
  let team: Awaited<ReturnType<typeof TestApp.withTeam>>;
  let admin: ReturnType<typeof as>;
  let project: string;
  /** The metrics that a call reads while it is answered. */
  let seen = '';
  const metrics = async () => {
    seen = (await app.get('/metrics', masterKey)).body;
  };

  const answer = ({ messages }: ChatRequest) => {
    const word = messages.at(-1)?.content;
    if (word === 'held') return metrics().then(() => 'one two');
    if (word === 'slow') app.clock.advance(5_000);
    if (word === 'fail') throw new RuntimeInvalidResponse('it is nonsense.');
    return 'one two';
  };

  beforeAll(async () => {
    const runtimes = new MemoryChatRuntimes({ chat: { answer } });
    team = await TestApp.withTeam({
      env: { SERVICE_MASTER_KEY: masterKey },
      adapt: (container) => void container.rebind(ChatRuntimes).toConstantValue(runtimes),
    });
    app = team.app;
    await app.verifyEmails();
    admin = as(app, team.admin.token);
    const prices = { input: 0, output: 0, per_call: 0.1 };
    project = await readyProject(app, team.admin.token, { runtime: 'onnx', path: 'chat', prices });
  });
  beforeEach(async () => {
    await query(app.database.url, 'TRUNCATE jobs, alert_rules, alerts, budgets CASCADE');
    app.clock.set(new Date(Date.UTC(2026, 0, 1, 12)));
    closeBreakers(app.container);
  });
  afterAll(() => app.stop());

  const chat = (word: string) => app.post(completions(project), team.admin.apiKey, ask(project, word));
  const chats = async (...words: string[]) => {
    for (const word of words) await chat(word);
  };
  /** Makes calls whose ends are stored at the same moment. */
  const together = async (word: string, count: number) => {
    const client = new Client({ connectionString: app.database.url });
    await client.connect();
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [FINISHING]);
    try {
      const calls = Array.from({ length: count }, () => chat(word));
      const waiting = `SELECT count(*)::integer AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await until(`${count} ends wait`, async () => (await client.query(waiting)).rows[0].count >= count);
      await client.query('SELECT pg_advisory_unlock_all()');
      await Promise.all(calls);
    } finally {
      await client.end();
    }
  };
  const newest = async () => (await admin.get('/v1/jobs?limit=1')).jobs[0];
  const fired = async () => (await admin.alerts()).reverse();
  const budget = async (over: object = {}) => {
    const about = { scope: 'project', scope_id: project, unit: 'calls', limit: 5, period: 'hour', on_exceed: 'alert' };
    return (await admin.call('POST', '/v1/budgets', { json: { ...about, ...over } })).body as { id: string };
  };
  const windowed = { rule_type: 'error_rate', threshold: 0.5, window_minutes: 10, min_calls: 4 };
  const preview = async ({ name: _, id: __, ...rule }: Record<string, unknown>, more: object = {}) =>
    (await admin.call('POST', `${rules}/preview`, { json: { name: 'would', ...rule, ...more } })).body;

  it('fire once in a period when a budget is used, and again after a higher limit', async () => {
    const { id } = await budget();
    const rule = { rule_type: 'budget_used', threshold: 0.8, budget_id: id };
    expect(await admin.rule(rule)).toMatchObject({
      ...{ ...rule, severity: 'P2', window_minutes: null, min_calls: null },
      budget: { scope: 'project', scope_id: project, unit: 'calls', period: 'hour' },
    });
    await chats('a', 'fail', 'b', 'c');
    expect(await fired()).toEqual([]);
    await chats('d');
    const fourth = await newest();
    const message = expect.stringMatching(
      `^With the job ${fourth.id}, 80 % of the budget ${id} .calls of the project ${project}, for each hour. is used`,
    );
    expect(await fired()).toMatchObject([{ job_id: fourth.id, title: 'Budget used to 80 %', message, severity: 'P2' }]);
    await chats('e', 'f');
    expect(await fired()).toHaveLength(1);
    await admin.call('PATCH', `/v1/budgets/${id}`, { json: { limit: 10 } });
    await chats('g');
    expect(await fired()).toHaveLength(1);
    await chats('h');
    expect(await fired()).toMatchObject([{ job_id: fourth.id }, { job_id: (await newest()).id }]);
    app.clock.advance(3_600_000);
    await chats('1', '2', '3', '4', '5', '6', '7');
    expect(await fired()).toHaveLength(2);
    await chats('8', '9');
    expect(await fired()).toHaveLength(3);
    const outcome = await preview(rule);
    const alerts = await fired();
    expect(outcome.alerts.map(({ job_id }: { job_id: string }) => job_id)).toEqual(
      alerts.slice(1).map(({ job_id }: { job_id: string }) => job_id),
    );
    expect(await preview(rule, { since: (await newest()).created_at })).toMatchObject({ count: 1, jobs_considered: 9 });
  });

  it('fire exactly once when calls cross the share of a budget at the same time', async () => {
    const { id } = await budget({ unit: 'cost', limit: 0.3 });
    await admin.rule({ rule_type: 'budget_used', threshold: 1, budget_id: id });
    await together('a', 3);
    expect(await fired()).toMatchObject([{ title: 'Budget used to 100 %' }]);
  });

  it('say that their budget is deleted, and fire no more', async () => {
    const { id } = await budget();
    const rule = await admin.rule({ rule_type: 'budget_used', threshold: 0.2, budget_id: id });
    await admin.call('DELETE', `/v1/budgets/${id}`);
    await chats('a', 'b');
    expect(await fired()).toEqual([]);
    expect(await admin.get(`${rules}/${rule.id}`)).toEqual({ ...rule, budget: null });
    expect((await admin.get(rules)).rules).toEqual([{ ...rule, budget: null }]);
    expect(await admin.call('PATCH', `${rules}/${rule.id}`, { json: { name: 'old' } })).toMatchObject({ status: 200 });
    expect((await preview({ rule_type: 'budget_used', threshold: 1, budget_id: id })).details[0].path).toBe(
      'budget_id',
    );
  });

  it('leave calls of other projects, and jobs that run elsewhere, to other budgets', async () => {
    const other = await readyProject(app, team.admin.token, { runtime: 'onnx', path: 'chat' });
    const { id } = await budget({ scope_id: other, limit: 0 });
    await admin.rule({ rule_type: 'budget_used', threshold: 0.1, budget_id: id });
    await chats('a');
    await admin.ended('failed');
    expect(await fired()).toEqual([]);
  });

  it('fire when too many calls fail, and again after the window', async () => {
    await admin.rule(windowed);
    await chats('a', 'fail', 'fail');
    expect(await fired()).toEqual([]);
    await chats('fail', 'fail');
    const fourth = (await admin.get('/v1/jobs?limit=2')).jobs[1];
    const [alert] = await fired();
    expect(alert).toMatchObject({ job_id: fourth.id, severity: 'P1', title: '50 % or more of the calls failed' });
    expect(alert.message).toContain('3 of the 4 calls that ended within 10 minutes failed.');
    app.clock.advance(600_000);
    await chats('fail', 'fail', 'a', 'a');
    expect(await fired()).toHaveLength(1);
    await chats('fail');
    expect(await fired()).toHaveLength(2);
    const jobs = (await fired()).map(({ job_id }: { job_id: string }) => job_id);
    expect((await preview(windowed)).alerts.map(({ job_id }: { job_id: string }) => job_id)).toEqual(jobs);
    expect(await preview({ ...windowed, job_kind: 'embedding' })).toMatchObject({ count: 0 });
  });

  it('fire exactly once when the calls that make a window bad end at the same time', async () => {
    await admin.rule({ ...windowed, min_calls: 3 });
    await together('fail', 3);
    expect(await fired()).toMatchObject([{ message: expect.stringContaining('3 of the 3 calls') }]);
  });

  it('fire when the 95th percentile of the latency is above the threshold', async () => {
    await admin.rule({ ...windowed, rule_type: 'latency_p95', threshold: 4.999, min_calls: 20 });
    await chats(...Array(19).fill('a'), 'slow');
    expect(await fired()).toEqual([]);
    await chats('slow');
    expect(await fired()).toMatchObject([
      {
        title: 'More than 5 % of the calls took longer than 4.999 s',
        message: expect.stringContaining('2 of the 21 calls that ended within 10 minutes took longer than 4.999 s.'),
        severity: 'P2',
      },
    ]);
    expect(await preview({ ...windowed, rule_type: 'latency_p95', threshold: 5, min_calls: 1 })).toMatchObject({
      count: 0,
    });
  });

  it('are not changed and fire nothing while they are disabled', async () => {
    const { id } = await budget({ limit: 1 });
    const made = [
      await admin.rule({ rule_type: 'budget_used', threshold: 1, budget_id: id }),
      await admin.rule(windowed),
    ];
    for (const rule of made) await admin.call('PATCH', `${rules}/${rule.id}`, { json: { enabled: false } });
    await chats('a', 'fail', 'fail', 'fail');
    expect(await fired()).toEqual([]);
    for (const rule of made) await admin.call('PATCH', `${rules}/${rule.id}`, { json: { enabled: true } });
    await chats('fail');
    await chats('a');
    expect(await fired()).toMatchObject([{ rule_type: 'error_rate' }, { rule_type: 'budget_used' }]);
  });

  it('count costs, refusals by scope, and calls that hold a part of budgets', async () => {
    await budget({ limit: 2, on_exceed: 'refuse' });
    const figures = async () => {
      await metrics();
      const figure = (pattern: string) => Number(new RegExp(`^${pattern} (\\S+)$`, 'm').exec(seen)?.[1]);
      const cost = figure(`tenon_cost_total\\{project="${project}",model="mdl_[^"]+",currency="USD"\\}`);
      const refused = ['team', 'project', 'key'].map((scope) =>
        figure(`tenon_budget_refusals_total\\{scope="${scope}"\\}`),
      );
      return { cost: cost || 0, refused, held: figure('tenon_budget_held_calls') };
    };
    const before = await figures();
    await chats('held');
    expect(seen).toContain('tenon_budget_held_calls 1\n');
    await chats('a', 'too many');
    const after = await figures();
    expect(after).toMatchObject({ refused: [0, (before.refused[1] ?? 0) + 1, 0], held: 0 });
    expect(after.cost - before.cost).toBeCloseTo(0.2, 9);
  });

  it('name the wrong field of a refused rule', async () => {
    const { id } = await budget();
    const wrong = async (json: object) =>
      (await admin.call('POST', rules, { json: { name: 'x', ...json } })).body.details?.map(
        ({ path }: { path: string }) => path,
      );
    const used = { rule_type: 'budget_used', threshold: 0.8, budget_id: id };
    for (const threshold of [0, 10.1, 0.1234567891]) expect(await wrong({ ...used, threshold })).toEqual(['threshold']);
    for (const budget_id of [null, 'bud_gone', '']) expect(await wrong({ ...used, budget_id })).toEqual(['budget_id']);
    expect(await wrong({ ...used, window_minutes: 1, min_calls: 1 })).toEqual(['window_minutes', 'min_calls']);
    for (const threshold of [0, 1.1]) expect(await wrong({ ...windowed, threshold })).toEqual(['threshold']);
    expect(await wrong({ ...windowed, rule_type: 'latency_p95', threshold: 1e9 + 1 })).toEqual(['threshold']);
    for (const window_minutes of [0, 1.5, 1_441, '5', null])
      expect(await wrong({ ...windowed, window_minutes })).toEqual(['window_minutes']);
    for (const min_calls of [0, 10_001, null]) expect(await wrong({ ...windowed, min_calls })).toEqual(['min_calls']);
    expect(await wrong({ ...windowed, budget_id: id })).toEqual(['budget_id']);
    expect(await wrong({ ...windowed, job_kind: 'evaluation' })).toEqual(['job_kind']);
    expect((await admin.get(rules)).count).toBe(0);
  });
});
