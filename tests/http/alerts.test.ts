import type { Container } from 'inversify';
import { AlertAnnouncer } from '../../src/application/alerts/alert-announcer.js';
import type { Alert } from '../../src/domain/alerts/alert.js';
import { copyRow, query } from '../support/database.js';
import { as, masterKey } from '../support/monitoring.js';
import { answering, type Posted, verified, WebhookReceiver } from '../support/webhook-receiver.js';
import { register } from '../support/workspace.js';
import { mailsTo, receivesMail } from './support/mailbox.js';
import { TestApp } from './support/test-app.js';

const rules = '/v1/alerts/rules';
const webhooks = '/v1/alerts/webhooks';

describe('alert rules and alerts', () => {
  let app: TestApp;
  let team: Awaited<ReturnType<typeof TestApp.withTeam>>;
  let admin: ReturnType<typeof as>;
  let member: ReturnType<typeof as>;
  let regular: ReturnType<typeof as>;
  let master: ReturnType<typeof as>;
  const notified: Alert[] = [];

  beforeAll(async () => {
    const env = { SERVICE_MASTER_KEY: masterKey, SERVICE_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1' };
    const adapt = (container: Container) => {
      receivesMail(container);
      const acknowledged = async (alert: Alert) => void notified.push(alert);
      const announcer = container.get(AlertAnnouncer);
      jest.spyOn(announcer, 'acknowledged').mockImplementation(acknowledged);
    };
    team = await TestApp.withTeam({ env, adapt });
    app = team.app;
    await app.verifyEmails();
    [admin, member, regular] = [as(app, team.admin.token), as(app, team.member.apiKey), as(app, team.stranger.token)];
    master = as(app, masterKey);
  });
  beforeEach(async () => {
    notified.length = 0;
    await query(app.database.url, 'TRUNCATE jobs, alert_rules, alerts, webhooks');
  });
  afterAll(() => app.stop());

  const invalid = (path: string) => ({
    status: 422,
    body: expect.objectContaining({ code: 'invalid_request', details: [expect.objectContaining({ path })] }),
  });

  it('fires once for failures in a row, and again only after a success', async () => {
    const rule = await admin.rule({ threshold: 2 });
    await admin.ended('failed');
    expect(await member.alerts()).toEqual([]);
    await admin.ended('cancelled');
    const second = await regular.ended('failed', { name: 'secret' });
    const [alert] = await member.alerts();
    expect(alert).toEqual({
      id: expect.stringMatching(/^alr_/),
      rule_id: rule.id,
      rule_name: 'training fails',
      rule_type: 'consecutive_failures',
      severity: 'P1',
      title: '2 jobs failed in a row',
      message: expect.stringContaining(second.id),
      job_id: second.id,
      status: 'firing',
      created_at: second.finished_at,
      acked_at: null,
      acked_by: null,
      note: null,
    });
    expect(JSON.stringify(alert)).not.toContain('secret');
    await admin.ended('failed');
    expect(await member.alerts()).toHaveLength(1);
    await admin.ended('succeeded');
    await admin.ended('failed');
    expect(await member.alerts()).toHaveLength(1);
    const sixth = await admin.ended('failed');
    expect(await member.alerts()).toMatchObject([{ job_id: sixth.id }, { job_id: second.id }]);
    expect(await member.get(`/v1/alerts/${alert.id}`)).toEqual(alert);
  });

  it('fires for each job that ran too long', async () => {
    await admin.rule({ rule_type: 'job_duration_exceeded', threshold: 0.001, name: 'slow', severity: 'P4' });
    await admin.rule({ rule_type: 'job_duration_exceeded', threshold: 1e9 });
    const { id } = await admin.job();
    app.clock.advance(5);
    const job = await admin.report(id, { status: 'cancelled' });
    await admin.ended('failed', { status: 'queued' }); // it never ran
    expect(await admin.alerts()).toMatchObject([
      {
        job_id: job.id,
        severity: 'P4',
        title: 'External job ran longer than 0.001 s',
        message: expect.stringMatching(`ran for ${job.duration} s and was cancelled`),
      },
    ]);
  });

  it('changes the name, threshold and severity of a rule', async () => {
    const rule = await admin.rule({ threshold: 5 });
    const change = { name: 'other', threshold: 1, severity: 'P2', rule_type: 'nonsense', id: 'x' };
    const next = { ...rule, name: 'other', threshold: 1, severity: 'P2' };
    expect(await admin.call('PATCH', `${rules}/${rule.id}`, { json: change })).toEqual({ status: 200, body: next });
    expect(await member.get(`${rules}/${rule.id}`)).toEqual(next);
    expect(await member.get(rules)).toEqual({ rules: [next], count: 1 });
    await admin.ended('failed');
    expect(await admin.alerts()).toMatchObject([{ rule_name: 'other', severity: 'P2' }]);
    for (const threshold of [0, 1.5, 10_001]) {
      expect(await admin.call('PATCH', `${rules}/${rule.id}`, { json: { threshold } })).toEqual(invalid('threshold'));
    }
    expect(await member.get(`${rules}/${rule.id}`)).toEqual(next);
  });

  it('keeps the alerts of a deleted rule', async () => {
    const { id } = await admin.rule({ threshold: 1 });
    await admin.ended('failed');
    expect(await admin.call('DELETE', `${rules}/${id}`)).toEqual({ status: 200, body: { id, deleted: true } });
    for (const method of ['GET', 'DELETE']) {
      expect(await admin.call(method, `${rules}/${id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    await admin.ended('succeeded');
    await admin.ended('failed');
    expect(await admin.alerts()).toMatchObject([{ rule_id: id, rule_name: 'training fails' }]);
  });

  it('lets only the first caller acknowledge an alert', async () => {
    await admin.rule({ threshold: 1 });
    await admin.ended('failed');
    const [{ id }] = await admin.alerts();
    const developer = as(app, team.developer.apiKey);
    const acked = await developer.call('POST', `/v1/alerts/${id}/ack`, { json: { note: 'The disk was full.' } });
    expect(acked).toMatchObject({
      status: 200,
      body: { status: 'acked', acked_by: team.developer.id, acked_at: expect.any(Number), note: 'The disk was full.' },
    });
    for (const by of [admin, master]) expect(await by.call('POST', `/v1/alerts/${id}/ack`)).toEqual(acked);
    expect(notified).toMatchObject([{ id, ackedBy: team.developer.id, note: 'The disk was full.' }]);
    expect(await admin.alerts('?status=firing')).toEqual([]);
    expect(await admin.alerts('?status=acked')).toEqual([acked.body]);
    await admin.ended('succeeded');
    await admin.ended('failed');
    const [newest] = await admin.alerts('?limit=1');
    expect(await master.call('POST', `/v1/alerts/${newest.id}/ack`, { json: {} })).toMatchObject({
      body: { acked_by: 'master', note: null },
    });
    const note = 'x'.repeat(1_001);
    expect(await admin.call('POST', `/v1/alerts/${id}/ack`, { json: { note } })).toEqual(invalid('note'));
    const page = await admin.get('/v1/alerts?limit=1');
    expect(page).toMatchObject({ count: 1, next_cursor: newest.id });
    expect((await admin.get(`/v1/alerts?limit=1&cursor=${page.next_cursor}`)).alerts).toEqual([acked.body]);
    expect(await admin.call('GET', '/v1/alerts?status=x')).toEqual(invalid('status'));
  });

  it('shows the alerts that a rule would have fired, and stores nothing', async () => {
    const jobs = [];
    for (const status of ['failed', 'failed', 'failed', 'succeeded', 'failed', 'cancelled', 'failed']) {
      jobs.push(await admin.ended(status));
      app.clock.advance(1_000);
    }
    const preview = (more: object) =>
      member.call('POST', `${rules}/preview`, {
        json: { name: 'would', rule_type: 'consecutive_failures', threshold: 2, ...more },
      });
    const { status, body } = await preview({});
    expect(status).toBe(200);
    expect(body).toMatchObject({ count: 2, jobs_considered: 7 });
    expect(body.alerts[0]).toEqual({
      rule_name: 'would',
      rule_type: 'consecutive_failures',
      severity: 'P1',
      title: '2 jobs failed in a row',
      message: expect.any(String),
      job_id: jobs[1].id,
      created_at: jobs[1].finished_at,
    });
    expect(body.alerts[1].job_id).toBe(jobs[6].id);
    const since = await preview({ since: jobs[4].finished_at, threshold: 1, severity: 'P3' });
    expect(since.body).toMatchObject({
      count: 1,
      alerts: [{ job_id: jobs[4].id, severity: 'P3' }],
      jobs_considered: 3,
    });
    expect((await preview({ job_kind: 'chat' })).body).toEqual({ alerts: [], count: 0, jobs_considered: 0 });
    const slow = await preview({ rule_type: 'job_duration_exceeded', threshold: 1e-9 });
    expect(slow.body.count).toBe(jobs.filter(({ duration }) => duration > 1e-9).length);
    expect(await member.get(rules)).toEqual({ rules: [], count: 0 });
    expect(await member.alerts()).toEqual([]);
    for (const bad of [-1, 1e300]) expect(await preview({ since: bad })).toEqual(invalid('since'));
  });

  it('names the wrong field of a refused rule', async () => {
    const post = (json: object) =>
      admin.call('POST', rules, { json: { name: 'x', rule_type: 'consecutive_failures', threshold: 1, ...json } });
    for (const threshold of [0, -1, 1.5, 10_001, '3', null])
      expect(await post({ threshold })).toEqual(invalid('threshold'));
    for (const threshold of [0, -0.1, 1e9 + 1]) {
      expect(await post({ rule_type: 'job_duration_exceeded', threshold })).toEqual(invalid('threshold'));
    }
    for (const name of ['', ' ', 'x'.repeat(201), 1]) expect(await post({ name })).toEqual(invalid('name'));
    expect(await post({ rule_type: 'x' })).toEqual(invalid('rule_type'));
    expect(await post({ severity: 'P0' })).toEqual(invalid('severity'));
    expect(await post({ job_kind: 'x' })).toEqual(invalid('job_kind'));
    expect((await admin.get(rules)).count).toBe(0);
  });

  it('stores at most a hundred rules', async () => {
    const { id } = await admin.rule();
    await copyRow(app.database.url, 'alert_rules', id, 98);
    const last = await Promise.all(
      [1, 2, 3].map(() =>
        admin.call('POST', rules, { json: { name: 'x', rule_type: 'consecutive_failures', threshold: 1 } }),
      ),
    );
    expect(last.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    expect(last.find(({ status }) => status === 422)?.body.error).toContain('100');
    expect((await admin.get(rules)).count).toBe(100);
  });

  it('mails an alert to the admins and developers of the operator team who have switched this on', async () => {
    const switched = async (token: string, on: boolean) => {
      const { status, body } = await app.call('PATCH', '/v1/auth/me', { token, json: { alert_emails: on } });
      expect({ status, on: body.alert_emails }).toEqual({ status: 200, on });
      expect((await app.get('/v1/auth/me', token)).body.alert_emails).toBe(on);
    };
    const unverified = await register(app, 'Una');
    const role = `/v1/auth/users/${unverified.id}/role`;
    expect(await admin.call('PATCH', role, { json: { role: 'admin' } })).toMatchObject({ status: 200 });
    const people = ['ada', 'dan', 'mia', 'eve', 'una'];
    const mails = async () => {
      const counts: number[] = [];
      for (const name of people) {
        const texts = await mailsTo(app, `${name}@example.com`);
        counts.push(texts.filter((text) => text.includes('External job failed')).length);
      }
      return counts;
    };

    await admin.rule({ threshold: 1 });
    await admin.ended('failed');
    expect(await mails()).toEqual([0, 0, 0, 0, 0]);

    for (const { token } of [team.admin, team.developer, team.member, team.stranger, unverified])
      await switched(token, true);
    await admin.ended('succeeded');
    await admin.ended('failed');
    expect(await mails()).toEqual([1, 1, 0, 0, 0]);

    await switched(team.developer.token, false);
    await admin.ended('succeeded');
    await admin.ended('failed');
    expect(await mails()).toEqual([2, 1, 0, 0, 0]);
    const wrong = await app.call('PATCH', '/v1/auth/me', {
      token: team.admin.token,
      json: { alert_emails: 'yes' },
    });
    expect(wrong).toMatchObject({ status: 422, body: { details: [{ path: 'alert_emails' }] } });
  });

  it('shows the switch for alert e-mails only on /v1/auth/me', async () => {
    const roster = await app.get('/v1/auth/users', team.member.token);
    const login = { email: 'ada@example.com', password: 'correct horse battery' };
    const { body } = await app.post('/v1/auth/login', undefined, login);
    for (const user of [...roster.body.users, body.user]) expect(user).not.toHaveProperty('alert_emails');
  });

  it('lets admins and developers create, list and delete webhooks; members see only origins of URLs', async () => {
    const url = 'http://127.0.0.1:9/in?key=private';
    const { status, body: made } = await admin.call('POST', webhooks, { json: { url } });
    expect(status).toBe(201);
    expect(made).toEqual({
      id: expect.stringMatching(/^whk_/),
      url,
      enabled: true,
      created_by: team.admin.id,
      created_at: expect.any(Number),
      last_delivery: null,
      deliveries: [],
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret, ...listed } = made;
    const developer = as(app, team.developer.apiKey);
    expect(await developer.get(webhooks)).toEqual({ webhooks: [listed], count: 1 });
    expect(await member.get(webhooks)).toEqual({ webhooks: [{ ...listed, url: 'http://127.0.0.1:9' }], count: 1 });
    const own = await master.call('POST', webhooks, { json: { url } });
    expect(own).toMatchObject({ status: 201, body: { created_by: 'master' } });
    expect(own.body.secret).not.toBe(secret);
    const gone = { id: made.id, deleted: true };
    expect(await developer.call('DELETE', `${webhooks}/${made.id}`)).toEqual({ status: 200, body: gone });
    expect(await admin.call('DELETE', `${webhooks}/${made.id}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  it('posts a signed test event to a webhook at once, and answers with the result', async () => {
    const receiver = await WebhookReceiver.start();
    const { body: made } = await admin.call('POST', webhooks, { json: { url: receiver.url } });
    const test = `${webhooks}/${made.id}/test`;
    expect(await admin.call('POST', test)).toEqual({
      status: 200,
      body: { at: expect.any(Number), status: 200, error: null },
    });
    const [posted] = receiver.posted as [Posted];
    expect(verified(made.secret, posted)).toEqual({
      type: 'webhook.test',
      timestamp: expect.any(String),
      data: { webhook_id: made.id },
    });
    await receiver.stop();
    expect(await as(app, team.developer.token).call('POST', test)).toMatchObject({
      status: 200,
      body: { status: null, error: 'the receiver refuses connections' },
    });
    expect(await member.call('POST', test)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await admin.get(webhooks)).toMatchObject({ webhooks: [{ last_delivery: null }] });
    await admin.call('DELETE', `${webhooks}/${made.id}`);
    expect(await admin.call('POST', test)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('posts an alert to a webhook again, lists the attempts, and audits each', async () => {
    await admin.rule({ threshold: 1 });
    await admin.ended('failed');
    const [alert] = await admin.alerts();
    const receiver = await WebhookReceiver.start();
    const { body: made } = await admin.call('POST', webhooks, { json: { url: receiver.url } });
    const again = `${webhooks}/${made.id}/deliveries`;
    const attempts = async () => (await admin.get(webhooks)).webhooks[0].deliveries;
    const send = (as: typeof admin, alert_id: string) => as.call('POST', again, { json: { alert_id } });
    const delivered = { at: expect.any(Number), status: 200, alert_id: alert.id, error: null };
    expect(await send(admin, alert.id)).toEqual({ status: 201, body: delivered });
    const [posted] = receiver.posted as [Posted];
    expect(posted.headers['webhook-id']).toBe(alert.id);
    expect(verified(made.secret, posted)).toMatchObject({
      type: 'alert.fired',
      data: { id: alert.id, status: 'firing' },
    });
    receiver.answer = answering(500);
    const failed = { ...delivered, status: 500, error: 'answered with status 500' };
    expect(await send(as(app, team.developer.token), alert.id)).toEqual({ status: 201, body: failed });
    expect(await attempts()).toEqual([failed, delivered]);
    expect(await admin.get(webhooks)).toMatchObject({ webhooks: [{ last_delivery: failed }] });
    expect(await send(member, alert.id)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await send(admin, 'alr_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11')).toMatchObject({ status: 404 });
    const { body: wrong } = await admin.call('POST', again, { json: { alert_id: {} } });
    expect(wrong).toMatchObject({ error: 'alert_id: must be a string' });
    const { entries } = await admin.get('/v1/audit?action=webhook.alert_sent_again');
    expect(entries).toMatchObject(Array(2).fill({ object: { id: made.id }, details: { alert_id: alert.id } }));
    receiver.answer = answering(410);
    await send(admin, alert.id);
    const { length } = receiver.posted;
    expect(await send(admin, alert.id)).toMatchObject({ status: 201, body: { status: null } });
    expect(receiver.posted).toHaveLength(length);
    await receiver.stop();
  });

  it('refuses a webhook with a malformed or forbidden URL', async () => {
    for (const url of [
      'nonsense',
      'ftp://127.0.0.1/',
      'https://user:password@example.com/',
      'https://example.com/#part',
      `https://example.com/${'x'.repeat(2_000)}`,
      'http://1.1.1.1/',
      'https://10.0.0.1/',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://127.0.0.2/',
      'http://127.0.0.2/',
    ]) {
      const { status, body } = await admin.call('POST', webhooks, { json: { url } });
      expect({ url, status, code: body.code, at: body.details?.[0].path }).toEqual({
        url,
        status: 422,
        code: 'invalid_request',
        at: 'url',
      });
    }
    expect(await admin.get(webhooks)).toEqual({ webhooks: [], count: 0 });
  });
});
