import { Client } from 'pg';
import type { AlertRule } from '../../src/domain/alerts/alert-rule.js';
import { atOnce } from '../support/barrier.js';
import { query } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { JobsModel } from '../support/jobs-model.js';
import { as, type Cast, castOf, masterKey } from '../support/monitoring.js';
import { Pair, tally } from '../support/pair.js';
import { until } from '../support/until.js';
import { answering, verified, WebhookReceiver } from '../support/webhook-receiver.js';

const LINE = 'finishing jobs';

/** Leaves out the locks of other databases on the same server. */
const HERE = `locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const path = '/v1/alerts/webhooks';

const env = { SERVICE_MASTER_KEY: masterKey, SERVICE_MAX_ACCOUNTS: '9', SERVICE_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1' };

let pair: Pair;
let databaseUrl: string;
beforeAll(async () => {
  pair = await Pair.start(env);
  databaseUrl = pair.one.databaseUrl as string;
});
beforeEach(() => pair.query('TRUNCATE jobs, alert_rules, alerts, webhooks'));
afterAll(() => pair.stop());

describe('jobs that finish at once on two processes', () => {
  const on = (party: number) => as(pair.of(party), masterKey);

  /** Holds the lock for finishing jobs until `parties` calls wait for it. */
  async function heldBack<T>(act: () => Promise<T>, parties = 16): Promise<T> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [LINE]);
      const acting = act();
      const waiting = `SELECT count(*)::integer AS count FROM pg_locks WHERE ${HERE} AND NOT granted`;
      const count = async () => (await client.query(waiting)).rows[0].count;
      await until(`${parties} wait`, async () => (await count()) >= parties);
      await client.query('SELECT pg_advisory_unlock_all()');
      return await acting;
    } finally {
      await client.end();
    }
  }

  /** Returns the alerts that the model expects from the order in which the jobs finished. */
  async function expected(): Promise<string[]> {
    const model = new JobsModel();
    const rules = await query<AlertRule>(
      databaseUrl,
      `SELECT id, rule_type AS "ruleType", threshold, job_kind AS "jobKind", severity, enabled FROM alert_rules`,
    );
    model.rules.push(...rules);
    const finished = await query<Parameters<JobsModel['finish']>[0]>(
      databaseUrl,
      `SELECT id, kind, status, started_at AS "startedAt", finished_at AS "finishedAt" FROM jobs
        WHERE finish_number IS NOT NULL ORDER BY finish_number`,
    );
    for (const job of finished) model.finish(job);
    return model.alerts.map(({ ruleId, jobId }) => `${ruleId} ${jobId}`).sort();
  }

  const fired = async () => {
    const rows = await query<{ rule: string; job: string }>(
      databaseUrl,
      'SELECT rule_id AS rule, job_id AS job FROM alerts',
    );
    return rows.map(({ rule, job }) => `${rule} ${job}`).sort();
  };

  it('fire exactly the alerts of the rules, for failures, successes and cancellations', async () => {
    for (const threshold of [1, 2, 3, 5]) await on(threshold).rule({ threshold });
    await on(0).rule({ rule_type: 'job_duration_exceeded', threshold: 0.05 });
    const ending = ['failed', 'failed', 'failed', 'succeeded', 'failed', 'cancelled', 'failed', 'failed'];
    for (let round = 0; round < 3; round++) {
      const jobs = await atOnce(16, (party) => on(party).job());
      await heldBack(() =>
        atOnce(16, (party) => on(party).report(jobs[party].id, { status: ending[(party + round) % ending.length] })),
      );
    }
    const alerts = await fired();
    expect(alerts.length).toBeGreaterThan(4);
    expect(alerts).toEqual(await expected());
  });

  it('count for a rule that is created at the same time, as if they finished before or after', async () => {
    const jobs = await atOnce(8, (party) => on(party).job());
    const finishing = () => jobs.map(({ id }, party) => on(party).report(id, { status: 'failed' }));
    const making = () => [on(0).rule({ threshold: 8 }), on(1).rule({ threshold: 9 })];
    await heldBack(() => Promise.all([...finishing(), ...making()]), 10);
    const { id } = await on(0).ended('failed');
    const rows = await query<{ failures_in_a_row: number }>(databaseUrl, 'SELECT failures_in_a_row FROM alert_rules');
    expect(rows).toEqual([{ failures_in_a_row: 9 }, { failures_in_a_row: 9 }]);
    const nine = (await on(0).alerts()).filter(({ title }: { title: string }) => title.startsWith('9'));
    expect(nine).toMatchObject([{ job_id: id }]);
  });
});

/** Makes all waiting tasks due now. */
const hurry = () => pair.query('UPDATE graphile_worker._private_jobs SET run_at = now()');

describe('webhooks and two processes', () => {
  let receiver: WebhookReceiver;
  let cast: Cast;
  let admin: ReturnType<typeof as>;

  beforeAll(async () => {
    cast = await castOf(pair.one);
    admin = as(pair.one, cast.admin.token);
  });
  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
  });
  afterEach(() => receiver.stop());

  const created = async (url = receiver.url) => {
    const { status, body } = await admin.call('POST', path, { json: { url } });
    expect(status).toBe(201);
    return body;
  };
  const last = async () => (await admin.get(path)).webhooks[0]?.last_delivery;
  const waiting = async () => (await pair.query('SELECT id FROM graphile_worker._private_jobs')).length;
  const seen = () => receiver.posted.map(({ headers }) => headers['webhook-id']);

  it('are at most ten, also if they are created at once', async () => {
    for (let nth = 0; nth < 8; nth++) await created();
    const answers = await pair.race('webhooks', 4, (party) =>
      pair.of(party).post(path, masterKey, { url: receiver.url }),
    );
    expect(tally(answers)).toEqual({ 201: 2, '422 invalid_request': 2 });
    expect((await admin.get(path)).count).toBe(10);
  });

  it('get each alert once from two processes, with a signature that the public library verifies', async () => {
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

  // These two tests must be the last ones: they kill processes.
  it('end the calls of a killed process on the other process, which applies the alert rules', async () => {
    await admin.rule({ threshold: 2, job_kind: 'chat' });
    const numbers = await query<{ number: number }>(
      databaseUrl,
      `SELECT objid::integer AS number FROM pg_locks WHERE ${HERE} AND objsubid = 2 ORDER BY objid`,
    );
    const [own, other] = [numbers.at(-1)?.number, numbers[0]?.number];
    const call = `INSERT INTO jobs (id, kind, mode, status, requested_by, created_at, started_at, progress, process)
      VALUES ('job_0199f2a4-7c1e-7a57-9d0e-' || $1, 'chat', 'sync', 'running', 'usr_1', now(), now(), '{"done":0,"total":1}', $2)`;
    for (const [id, process] of [
      ['00000000000a', own],
      ['00000000000b', own],
      ['00000000000c', other],
    ])
      await query(databaseUrl, call, [id, process]);
    await pair.other.kill();
    await until('the calls of the dead process are ended', async () => (await admin.alerts()).length > 0);
    const { jobs } = await as(pair.one, masterKey).get('/v1/jobs?kind=chat');
    expect(jobs.map(({ status }: { status: string }) => status)).toEqual(['running', 'failed', 'failed']);
    expect(await admin.alerts()).toHaveLength(1);
  });

  it('lose nothing if the service is killed between an alert and its delivery', async () => {
    const { secret } = await created();
    receiver.answer = () => undefined;
    await admin.rule({ threshold: 1 });
    await admin.ended('failed');
    await eventually(() => receiver.posted.length === 1);
    await pair.restart();
    admin = as(pair.one, cast.admin.token);
    receiver.answer = answering(200);
    await eventually(async () => {
      await hurry();
      return (await last())?.status === 200;
    });
    const [alert] = await admin.alerts();
    const [first, second, ...more] = receiver.posted.map((posted) => verified(secret, posted));
    expect([first, second, more]).toEqual([expect.objectContaining({ data: alert }), first, []]);
    expect(await last()).toMatchObject({ alert_id: alert.id });
  });
});
