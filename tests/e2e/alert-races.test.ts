import { Client } from 'pg';
import type { AlertRule } from '../../src/domain/alerts/alert-rule.js';
import type { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { atOnce, barrier } from '../support/barrier.js';
import { query } from '../support/database.js';
import { JobsModel } from '../support/jobs-model.js';
import { jobsRig } from '../support/jobs-rig.js';
import { as, masterKey } from '../support/monitoring.js';
import { postgresUnderTest } from '../support/postgres-repositories.js';
import { aJob, aRule } from '../support/records.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';

const by = { kind: 'master' } as const;
const LINE = 'finishing jobs';

/** Of the locks of the whole server, on which other tests have their databases. */
const HERE = `locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

describe('jobs that finish at once on two processes', () => {
  let services: Service[];
  let databaseUrl: string;

  beforeAll(async () => {
    const options = { alone: 'it is one of two', env: { SERVICE_MASTER_KEY: masterKey } };
    const first = await Service.start(options);
    databaseUrl = first.databaseUrl as string;
    services = [first, await Service.start({ ...options, databaseUrl })];
  });
  beforeEach(() => query(databaseUrl, 'TRUNCATE jobs, alert_rules, alerts'));
  afterAll(async () => {
    for (const service of [...services].reverse()) await service.stop();
  });

  const on = (process: number) => as(services[process % 2] as Service, masterKey);

  /** Stands first in the line, lets so many come to stand behind, and leaves. */
  async function heldBack<T>(act: () => Promise<T>, parties = 2): Promise<T> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [LINE]);
      const acting = act();
      const waiting = `SELECT count(*)::integer AS count FROM pg_locks WHERE ${HERE} AND NOT granted`;
      const count = async () => (await client.query(waiting)).rows[0].count;
      await until(`${parties} wait`, async () => (await count()) === parties);
      await client.query('SELECT pg_advisory_unlock_all()');
      return await acting;
    } finally {
      await client.end();
    }
  }

  /** What the model says that must have been fired, by the order in which the jobs finished. */
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

  it('fire exactly what the rules say: 16 failures', async () => {
    const rules: Record<number, string> = {};
    for (const threshold of [1, 2, 15, 16, 17]) rules[threshold] = (await on(threshold).rule({ threshold })).id;
    const jobs = await atOnce(16, (party) => on(party).job());
    const ends = await heldBack(() => atOnce(16, (party) => on(party).report(jobs[party].id, { status: 'failed' })));
    expect(ends.map(({ status }) => status)).toEqual(Array(16).fill('failed'));
    const alerts = await on(0).alerts();
    expect(alerts.map(({ rule_id }: { rule_id: string }) => rule_id).sort()).toEqual(
      [1, 2, 15, 16].map((threshold) => rules[threshold]).sort(),
    );
    expect(await fired()).toEqual(await expected());
    expect(new Set(alerts.map(({ job_id }: { job_id: string }) => job_id)).size).toBe(4);
  });

  it('fire exactly what the rules say: failures, successes and cancellations, round by round', async () => {
    for (const threshold of [1, 2, 3, 5]) await on(threshold).rule({ threshold });
    await on(0).rule({ rule_type: 'job_duration_exceeded', threshold: 0.05 });
    const ending = ['failed', 'failed', 'failed', 'succeeded', 'failed', 'cancelled', 'failed', 'failed'];
    for (let round = 0; round < 6; round++) {
      const jobs = await atOnce(16, (party) => on(party).job());
      await heldBack(() =>
        atOnce(16, (party) => on(party).report(jobs[party].id, { status: ending[(party + round) % ending.length] })),
      );
    }
    const alerts = await fired();
    expect(alerts.length).toBeGreaterThan(10);
    expect(alerts).toEqual(await expected());
  });

  it('count for a rule that is made at the same time either before it or after it', async () => {
    const jobs = await atOnce(8, (party) => on(party).job());
    const finishing = () => jobs.map(({ id }, party) => on(party).report(id, { status: 'failed' }));
    const making = () => [on(0).rule({ threshold: 8 }), on(1).rule({ threshold: 9 })];
    await heldBack(() => Promise.all([...finishing(), ...making()]), 4); // a batch and a rule in each process
    const { id } = await on(0).ended('failed');
    const rows = await query<{ failures_in_a_row: number }>(databaseUrl, 'SELECT failures_in_a_row FROM alert_rules');
    expect(rows).toEqual([{ failures_in_a_row: 9 }, { failures_in_a_row: 9 }]);
    const nine = (await on(0).alerts()).filter(({ title }: { title: string }) => title.startsWith('9'));
    expect(nine).toMatchObject([{ job_id: id }]);
  });

  it('are ended by the others when their process is killed, and the rules look at them', async () => {
    const doomed = await Service.start({ alone: 'its death', env: { SERVICE_MASTER_KEY: masterKey }, databaseUrl });
    await on(0).rule({ threshold: 2, job_kind: 'chat' });
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
    await doomed.kill();
    await until('the calls of the dead process are ended', async () => (await on(0).alerts()).length > 0);
    const { jobs } = await on(0).get('/v1/jobs?kind=chat');
    expect(jobs.map(({ status }: { status: string }) => status)).toEqual(['running', 'failed', 'failed']);
    expect(await on(0).alerts()).toHaveLength(1);
  });
});

/** The races above are worth their name only if they can be lost. */
describe('without one at a time', () => {
  const store = postgresUnderTest();

  it('a failure is alerted twice, and another forgotten', async () => {
    const all = barrier(2);
    const careless = async (open: () => ReturnType<typeof store.open>) => {
      const repositories = await open();
      const unitOfWork = repositories.unitOfWork as TypeOrmUnitOfWork;
      const rules = repositories.alertRules;
      return jobsRig({
        ...repositories,
        oneAtATime: { run: (_, work) => unitOfWork.apart('READ COMMITTED', work) },
        alertRules: Object.assign(Object.create(rules), {
          all: async () => {
            const read = await rules.all();
            await all();
            return read;
          },
        }),
        jobHistory: Object.assign(Object.create(repositories.jobHistory), {
          append: async () => undefined, // its numbers would give the race away
        }),
      });
    };
    const processes = [await careless(() => store.open()), await careless(() => store.elsewhere())];
    const [rule, jobs] = [aRule({ threshold: 1 }), [aJob(), aJob()]];
    await processes[0]?.alertRules.add(rule);
    await processes[0]?.jobs.add(jobs);
    await Promise.all(
      processes.map((process, index) =>
        process.changeJob.execute({ by, id: (jobs[index] as (typeof jobs)[0]).id, status: 'failed' }),
      ),
    );
    expect(await processes[0]?.allAlerts()).toHaveLength(2);
    expect(await processes[0]?.alertRules.find(rule.id)).toMatchObject({ failuresInARow: 1 });
  });
});
