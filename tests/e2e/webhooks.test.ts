import { rm } from 'node:fs/promises';
import { freshDatabase, query } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { as, type Cast, castOf, masterKey } from '../support/monitoring.js';
import { Pair, tally } from '../support/pair.js';
import { Service, temporaryFolder } from '../support/service.js';
import { answering, verified, WebhookReceiver } from '../support/webhook-receiver.js';

const path = '/v1/alerts/webhooks';

const env = { SERVICE_MASTER_KEY: masterKey, SERVICE_MAX_ACCOUNTS: '9', SERVICE_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1' };

/** Whatever waits for its next attempt is due now. */
const hurry = (url: string) => query(url, 'UPDATE graphile_worker._private_jobs SET run_at = now()');

describe('webhooks', () => {
  let pair: Pair;
  let receiver: WebhookReceiver;
  let cast: Cast;
  let admin: ReturnType<typeof as>;

  beforeAll(async () => {
    pair = await Pair.start(env);
    cast = await castOf(pair.one);
    admin = as(pair.one, cast.admin.token);
  });
  beforeEach(async () => {
    await pair.query('TRUNCATE jobs, alert_rules, alerts, webhooks');
    receiver = await WebhookReceiver.start();
  });
  afterEach(() => receiver.stop());
  afterAll(() => pair.stop());

  const created = async (url = receiver.url) => {
    const { status, body } = await admin.call('POST', path, { json: { url } });
    expect(status).toBe(201);
    return body;
  };
  const last = async () => (await admin.get(path)).webhooks[0]?.last_delivery;
  const waiting = async () => (await pair.query('SELECT id FROM graphile_worker._private_jobs')).length;
  const seen = () => receiver.posted.map(({ headers }) => headers['webhook-id']);

  it('are made, listed and deleted by admins and developers; members read, regular accounts do not', async () => {
    const made = await created();
    expect(made).toEqual({
      id: expect.stringMatching(/^whk_/),
      url: receiver.url,
      enabled: true,
      created_by: cast.admin.id,
      created_at: expect.any(Number),
      last_delivery: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret, ...listed } = made;
    const developer = as(pair.other, cast.developer.apiKey);
    expect(await developer.get(path)).toEqual({ webhooks: [listed], count: 1 });
    const member = as(pair.one, cast.member.apiKey);
    const origin = new URL(receiver.url).origin;
    expect(await member.get(path)).toEqual({ webhooks: [{ ...listed, url: origin }], count: 1 });
    const refused = { status: 403, body: expect.objectContaining({ code: 'forbidden' }) };
    expect(await member.call('POST', path, { json: { url: receiver.url } })).toEqual(refused);
    expect(await member.call('DELETE', `${path}/${made.id}`)).toEqual(refused);
    for (const method of ['GET', 'POST']) {
      const call = as(pair.one, cast.regular.token).call(method, path, {
        json: method === 'POST' ? {} : undefined,
      });
      expect(await call).toMatchObject({ status: 403, body: { code: 'operator_only' } });
    }
    const own = await as(pair.one, masterKey).call('POST', path, { json: { url: receiver.url } });
    expect(own).toMatchObject({ status: 201, body: { created_by: 'master' } });
    expect(own.body.secret).not.toBe(secret);
    const gone = { id: made.id, deleted: true };
    expect(await developer.call('DELETE', `${path}/${made.id}`)).toEqual({ status: 200, body: gone });
    expect(await admin.call('DELETE', `${path}/${made.id}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const dump = JSON.stringify(await pair.query('SELECT * FROM webhooks'));
    expect(dump).not.toContain(own.body.secret.slice('whsec_'.length));
  });

  it('lead nowhere else than they may', async () => {
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
      const { status, body } = await admin.call('POST', path, { json: { url } });
      expect({ url, status, code: body.code, at: body.details?.[0].path }).toEqual({
        url,
        status: 422,
        code: 'invalid_request',
        at: 'url',
      });
    }
    expect(await admin.get(path)).toEqual({ webhooks: [], count: 0 });
  });

  it('are ten at most, also where they are made at once', async () => {
    for (let nth = 0; nth < 8; nth++) await created();
    const answers = await pair.race('webhooks', 4, (party) =>
      pair.of(party).post(path, masterKey, { url: receiver.url }),
    );
    expect(tally(answers)).toEqual({ 201: 2, '422 invalid_request': 2 });
    expect((await admin.get(path)).count).toBe(10);
  });

  it('are posted each alert once by two processes, signed so that the public library verifies it', async () => {
    const { secret, id } = await created();
    const other = await created();
    await admin.rule({ rule_type: 'job_duration_exceeded', threshold: 0.000_001 });
    const jobs = await Promise.all(Array.from({ length: 16 }, () => admin.job()));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await Promise.all(
      jobs.map((job, nth) => as(pair.of(nth), masterKey).report(job.id, { status: nth % 3 ? 'succeeded' : 'failed' })),
    );
    const alerts = await admin.alerts();
    expect(alerts).toHaveLength(16);
    await eventually(async () => (await waiting()) === 0);
    const ids = alerts.map((alert: { id: string }) => alert.id);
    expect(seen().sort()).toEqual([...ids, ...ids].sort());
    const bodies = (key: string) =>
      receiver.posted.flatMap((posted) => {
        try {
          return [verified(key, posted)];
        } catch {
          return [];
        }
      });
    for (const key of [secret, other.secret]) {
      const events = bodies(key);
      expect(events.map(({ data }) => data.id).sort()).toEqual([...ids].sort());
      for (const event of events) {
        const alert = alerts.find((one: { id: string }) => one.id === event.data.id);
        const timestamp = new Date(alert.created_at * 1_000).toISOString();
        expect(event).toEqual({ type: 'alert.fired', timestamp, data: alert });
      }
    }
    const { webhooks } = await admin.get(path);
    expect(webhooks).toMatchObject([
      { id, enabled: true, last_delivery: { status: 200, error: null } },
      { id: other.id, last_delivery: { at: expect.any(Number), alert_id: expect.stringMatching(/^alr_/) } },
    ]);
  });

  it('are tried again after a failure under the same id, and follow no redirect', async () => {
    const { secret } = await created();
    await admin.rule({ threshold: 1 });
    receiver.answer = answering(500);
    const job = await admin.ended('failed');
    await eventually(async () => (await last())?.status === 500);
    receiver.answer = answering(302, { Location: receiver.url.replace('/in', '/elsewhere') });
    await eventually(async () => {
      await hurry(pair.one.databaseUrl as string);
      return (await last())?.status === 302;
    });
    receiver.answer = answering(204);
    await eventually(async () => {
      await hurry(pair.one.databaseUrl as string);
      return (await last())?.status === 204;
    });
    await eventually(async () => (await waiting()) === 0);
    const [alert] = await admin.alerts();
    expect(new Set(seen())).toEqual(new Set([alert.id]));
    expect(new Set(receiver.posted.map((posted) => posted.path))).toEqual(new Set(['/in?key=private']));
    expect(new Set(receiver.posted.map(({ body }) => body)).size).toBe(1);
    for (const posted of receiver.posted) expect(verified(secret, posted).data.job_id).toBe(job.id);
    expect(await last()).toMatchObject({ alert_id: alert.id, error: null });
  });

  it('are disabled where the receiver says that it is gone', async () => {
    await created();
    await admin.rule({ rule_type: 'job_duration_exceeded', threshold: 0.000_001 });
    receiver.answer = answering(410);
    await admin.ended('failed');
    await eventually(async () => (await admin.get(path)).webhooks[0].enabled === false);
    await admin.ended('failed');
    await eventually(async () => (await waiting()) === 0);
    expect(await admin.alerts()).toHaveLength(2);
    expect(receiver.posted).toHaveLength(1);
  });
});

describe('a webhook', () => {
  const ending: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });

  it('loses nothing where the service is killed between an alert and its delivery', async () => {
    const [database, dataDir] = [await freshDatabase(), await temporaryFolder()];
    ending.push(
      () => rm(dataDir, { recursive: true, force: true }),
      () => database.drop(),
    );
    const start = async () => {
      const service = await Service.start({ databaseUrl: database.url, dataDir, env });
      ending.push(() => service.kill());
      return service;
    };
    const receiver = await WebhookReceiver.start();
    ending.push(() => receiver.stop());
    receiver.answer = () => undefined;
    const doomed = await start();
    const master = as(doomed, masterKey);
    const { body } = await master.call('POST', path, { json: { url: receiver.url } });
    await master.rule({ threshold: 1 });
    await master.ended('failed');
    await eventually(() => receiver.posted.length === 1);
    await doomed.kill();

    receiver.answer = answering(200);
    const again = as(await start(), masterKey);
    const last = async () => (await again.get(path)).webhooks[0].last_delivery;
    await eventually(async () => {
      await hurry(database.url);
      return (await last())?.status === 200;
    });
    const [alert] = await again.alerts();
    const [first, second, ...more] = receiver.posted.map((posted) => verified(body.secret, posted));
    expect([first, second, more]).toEqual([expect.objectContaining({ data: alert }), first, []]);
    expect(await last()).toMatchObject({ alert_id: alert.id });
  });
});
