import type { CallInfo } from '../../../../src/application/jobs/call-tracker.js';
import type { LockMode, LogFields } from '../../../../src/application/shared/ports.js';
import type { AlertRule } from '../../../../src/domain/alerts/alert-rule.js';
import { InferenceTimeout, ModelBusy } from '../../../../src/domain/chat/errors.js';
import type { FinalStatus } from '../../../../src/domain/jobs/job.js';
import { StorageUnavailable } from '../../../../src/domain/shared/errors.js';
import { Prices } from '../../../../src/domain/spend/prices.js';
import { ManualClock } from '../../../fakes/shared/manual-clock.js';
import { MemoryLogger } from '../../../fakes/shared/memory-logger.js';
import { query } from '../../../support/database.js';
import { type JobsRig, jobsRig } from '../../../support/jobs-rig.js';
import { aCallOf, keep } from '../../../support/kept-calls.js';
import { postgresUnderTest } from '../../../support/postgres-repositories.js';
import { aCall, anAccount, aProject, aReport, aRule, aTeam, at, ended } from '../../../support/records.js';
import type { Repositories } from '../../../support/repositories.js';
import { until } from '../../../support/until.js';

const store = postgresUnderTest();

/** Waits until the instance has stored or withdrawn the beginnings of its calls. */
const settled = ({ running }: Pick<JobsRig, 'running'>) =>
  until('the calls are stored', () => !Reflect.get(running, 'storing'));

describe('CallTracker', () => {
  const rigs: JobsRig[] = [];
  afterEach(async () => {
    for (const rig of rigs.splice(0)) {
      await settled(rig);
      await rig.processes.leave();
    }
  });

  const setUp = async ({ elsewhere = false, running }: { elsewhere?: boolean; running?: () => LogFields } = {}) => {
    const repositories = await (elsewhere ? store.elsewhere() : store.open());
    const broken = { add: false, lock: false };
    const { jobs, unitOfWork } = repositories;
    const failIf = (isBroken: boolean) => {
      if (isBroken) throw new StorageUnavailable();
    };
    const rig = jobsRig(
      {
        ...repositories,
        jobs: Object.assign(Object.create(jobs), {
          add: async (...args: Parameters<typeof jobs.add>) => {
            failIf(broken.add);
            await jobs.add(...args);
          },
        }),
        unitOfWork: {
          run: (work) => unitOfWork.run(work),
          locked: async (lock, work, mode) => {
            failIf(broken.lock);
            return unitOfWork.locked(lock, work, mode);
          },
          checked: (name, steps) => unitOfWork.checked(name, steps),
        },
      },
      store.source,
      new ManualClock(at(0)),
      new MemoryLogger(running),
    );
    rigs.push(rig);
    const leaving = new AbortController();
    const about: CallInfo = {
      by: { kind: 'master' },
      kind: 'chat',
      name: null,
      projectId: 'prj_1',
      modelId: 'mdl_1',
      pricesOf: () => null,
      guard: null,
      signal: leaving.signal,
    };
    return { ...rig, about, leaving, broken };
  };
  /** The cost of so many tokens does not fit the column. */
  const TOO_MANY = 2 ** 63;
  const never = () => new Promise<never>(() => undefined);

  it('stores an unexpected error as a failure, without its text', async () => {
    const { tracking, about, allJobs } = await setUp();
    const error = new Error('secret');
    const call = tracking.track(about, async (admitted) => {
      admitted();
      throw error;
    });
    await expect(call).rejects.toBe(error);
    expect(await allJobs()).toMatchObject([
      { status: 'failed', error: 'internal_error: the log of the service has it.' },
    ]);
  });

  it('names the job and the request in its lines, also if an engine reports outside of the request', async () => {
    let running: LogFields = { request_id: 'req_1' };
    const { tracking, about, log, allJobs } = await setUp({ running: () => running });
    const call = await tracking.open(about);
    running = {};
    call.admitted();
    await call.succeeded();
    const [job] = await allJobs();
    expect(log.lines.map(({ event, fields }) => [event, fields.request_id, fields.job_id])).toEqual([
      ['job began', 'req_1', job?.id],
      ['job ended', 'req_1', job?.id],
    ]);
  });

  it('stores the key, the arrival, the figures and the code of the failure', async () => {
    const { tracking, about, clock, allJobs } = await setUp();
    const account = anAccount(aTeam());
    const by = { ...account, kind: 'api_key', credentialId: 'key_1', accountId: account.id } as never;
    const open = async (about: CallInfo) => {
      const call = await tracking.open(about);
      clock.advance(250);
      call.admitted();
      clock.advance(750);
      return call;
    };
    const figures = { tokensIn: 7, tokensOut: 3, firstToken: 0.5 };
    await (await open({ ...about, by })).succeeded(figures);
    await (await open(about)).failed(new InferenceTimeout(1));
    await (await open(about)).cancelled();
    const none = { keyId: null, tokensIn: null, tokensOut: null, firstToken: null, failure: null };
    expect((await allJobs()).reverse()).toMatchObject([
      {
        usage: { ...figures, keyId: 'key_1', failure: null },
        createdAt: at(0),
        startedAt: at(0.25),
        finishedAt: at(1),
      },
      { usage: { ...none, failure: 'inference_timeout' } },
      { usage: none },
    ]);
  });

  it('keeps no job of a refused call, whether its beginning was stored or not', async () => {
    const rig = await setUp();
    const { tracking, about, allJobs } = rig;
    for (const late of [false, true]) {
      const call = tracking.track(about, async (admitted) => {
        admitted();
        if (late) await settled(rig);
        throw new ModelBusy(1);
      });
      await expect(call).rejects.toThrow(ModelBusy);
      await settled(rig);
      expect(await allJobs()).toEqual([]);
    }
  });

  it('returns the answer even if the beginning could not be stored', async () => {
    const { tracking, about, broken, allJobs, log, running } = await setUp();
    broken.add = true;
    const call = async (admitted: () => void) => {
      admitted();
      await settled({ running });
      return 'answer';
    };
    expect(await tracking.track(about, call)).toBe('answer');
    expect(await allJobs()).toMatchObject([{ status: 'succeeded' }]);
    expect(log.lines.filter(({ level }) => level !== 'info')).toMatchObject([{ level: 'warn' }]);
  });

  it('throws if the end of a call could not be stored, and stores that end later, once', async () => {
    const { tracking, reaper, about, broken, clock, allJobs, allAlerts, alertRules } = await setUp();
    await alertRules.add(aRule({ threshold: 1 }));
    broken.lock = true;
    const succeeds = tracking.track(about, async (admitted) => {
      admitted();
      clock.advance(1_000);
      return 'answer';
    });
    await expect(succeeds).rejects.toThrow(StorageUnavailable);
    const fails = tracking.track(about, async (admitted) => {
      admitted();
      throw new InferenceTimeout(1);
    });
    await expect(fails).rejects.toThrow(StorageUnavailable);
    clock.advance(60_000);
    await reaper.execute().catch(() => undefined);
    expect(await allAlerts()).toEqual([]);
    broken.lock = false;
    await reaper.execute();
    await reaper.execute();
    expect(await allJobs()).toMatchObject([
      { status: 'failed', finishedAt: at(1) },
      { status: 'succeeded', finishedAt: at(1) },
    ]);
    expect(await allAlerts()).toHaveLength(1);
  });

  it('stores the other ends later, also if the database takes one of them never', async () => {
    const { tracking, reaper, about, broken, allJobs, log, alertRules } = await setUp();
    await alertRules.add(aRule({ threshold: 1 }));
    broken.lock = true;
    const prices = Prices.ofModel({ prices: { input: 1_000_000, output: 0 } });
    for (const tokensIn of [TOO_MANY, 7]) {
      const call = await tracking.open({ ...about, pricesOf: () => prices });
      call.admitted();
      // The database can refuse the number before it asks for the lock.
      await expect(call.succeeded({ tokensIn, tokensOut: 1, firstToken: null })).rejects.toThrow(Error);
    }
    broken.lock = false;
    await reaper.execute();
    expect(await allJobs()).toMatchObject([{ status: 'succeeded', usage: { tokensIn: 7 } }, { status: 'running' }]);
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject([{}]);
  });

  it('charges an answer that could not be stored, but no call that failed before', async () => {
    const { tracking, about, allJobs } = await setUp();
    const prices = Prices.ofModel({ prices: { input: 1_000_000, output: 0 } });
    const quota = new StorageUnavailable();
    const call = (work: () => string) =>
      tracking.track(
        { ...about, pricesOf: () => prices },
        async (admitted) => {
          admitted();
          return work();
        },
        {
          figuresOf: () => ({ tokensIn: 7, tokensOut: 3, firstToken: null }),
          store: async () => {
            throw quota;
          },
        },
      );
    await expect(call(() => 'answer')).rejects.toBe(quota);
    const broken = new InferenceTimeout(1);
    const fails = call(() => {
      throw broken;
    });
    await expect(fails).rejects.toBe(broken);
    expect(await allJobs()).toMatchObject([
      { status: 'failed', cost: '0.000000000' },
      { status: 'failed', cost: '7.000000000', usage: { tokensIn: 7, tokensOut: 3 } },
    ]);
  });

  it('removes thousands of old calls in one run', async () => {
    const { reaper, clock, jobHistory, unitOfWork, allJobs } = await setUp();
    await unitOfWork.run(() => jobHistory.append(ended(aCall()), false));
    await query(
      store.url,
      `INSERT INTO jobs SELECT (jsonb_populate_record(original, jsonb_build_object(
         'id', 'job_' || n, 'finish_number', nextval('job_finish_numbers')))).* FROM jobs original, generate_series(1, 3500) n`,
    );
    clock.advance(31 * 86_400_000);
    await reaper.execute();
    expect(await allJobs()).toEqual([]);
  });

  it('removes thousands of expired calls of projects in one run, and no others', async () => {
    const { reaper, clock, ...stored } = await setUp();
    const team = aTeam();
    const [account, project] = [anAccount(team), aProject(team)];
    await stored.teams.add(team);
    await stored.accounts.add(account);
    await stored.projects.add(project);
    const kept = aCallOf(project, account, { expiresAt: at(86_401) });
    for (const call of [kept, aCallOf(project, account, { expiresAt: at(86_399) })]) await keep(stored, call);
    const expired = `SELECT (jsonb_populate_record(c, jsonb_build_object('id', 'job_' || n))).* FROM calls c, generate_series(1, 3500) n`;
    await query(store.url, `INSERT INTO calls ${expired} WHERE id <> '${kept.id}'`);
    await reaper.execute();
    expect(await query(store.url, 'SELECT FROM calls')).toHaveLength(3_502);
    clock.advance(86_400_000);
    await reaper.execute();
    expect(await query(store.url, 'SELECT id FROM calls')).toEqual([{ id: kept.id }]);
  });

  it('ends the calls of a dead instance like any other failed call', async () => {
    const [died, lives] = [await setUp(), await setUp({ elsewhere: true })];
    await lives.alertRules.add(aRule({ threshold: 2 }));
    for (const [index, one] of [died, died, lives].entries()) {
      void one.tracking.track(one.about, (admitted) => {
        admitted();
        return never();
      });
      await until('the call runs', async () => (await lives.allJobs()).length === index + 1);
    }
    await lives.reaper.execute();
    await died.processes.leave();
    lives.clock.advance(60_000);
    await lives.reaper.execute();
    expect((await lives.allJobs()).map(({ status }) => status)).toEqual(['running', 'running', 'running']);
    lives.clock.advance(5_000);
    await lives.reaper.execute();
    expect((await lives.allJobs()).map(({ status }) => status)).toEqual(['running', 'failed', 'failed']);
    expect((await lives.allJobs())[1]?.error).toMatch(/instance died/);
    expect(await lives.allAlerts()).toHaveLength(1);
  });

  it('removes the report of a dead instance, also of one without calls', async () => {
    const [died, lives] = [await setUp(), await setUp({ elsewhere: true })];
    const numbers = [await died.processes.own(), await lives.processes.own()] as const;
    for (const number of numbers) await lives.instanceReports.save(aReport({ number }));
    await died.processes.leave();
    await lives.reaper.execute();
    expect(await lives.instanceReports.numbers()).toHaveLength(2);
    lives.clock.advance(5_000);
    await lives.reaper.execute();
    expect(await lives.instanceReports.numbers()).toEqual([numbers[1]]);
  });

  it('accepts the end of a call after another instance has closed its job, and leaves the job failed', async () => {
    const [away, other] = [await setUp(), await setUp({ elsewhere: true })];
    const call = await away.tracking.open(away.about);
    call.admitted();
    await settled(away);
    await away.processes.leave();
    await other.reaper.execute();
    other.clock.advance(5_000);
    await other.reaper.execute();
    await call.succeeded();
    expect(await other.allJobs()).toMatchObject([{ status: 'failed' }]);
  });

  it('removes calls after thirty days', async () => {
    const { tracking, reaper, about, clock, allJobs, jobService } = await setUp();
    const by = { kind: 'master' } as const;
    const { id } = await jobService.createExternal(by, { name: 'x', projectId: null, status: 'running' });
    await jobService.change(by, { id, status: 'failed' });
    await tracking.track(about, async (admitted) => admitted());
    clock.advance(30 * 24 * 60 * 60 * 1000);
    await reaper.execute();
    expect(await allJobs()).toHaveLength(2);
    clock.advance(1);
    await reaper.execute();
    expect(await allJobs()).toMatchObject([{ id }]);
  });
});

const tooLong = { ruleType: 'job_duration_exceeded', threshold: 0.999 } as const;

describe('JobFinisher', () => {
  /** Returns the modes of the locks that the end of a call of one second takes. */
  async function locksFor(rule: Partial<AlertRule> | null, status: FinalStatus): Promise<LockMode[]> {
    const repositories = await store.open();
    const modes: LockMode[] = [];
    const { unitOfWork } = repositories;
    const noting: Repositories['unitOfWork'] = {
      run: (work) => unitOfWork.run(work),
      locked: (name, work, mode = 'exclusive') => {
        modes.push(mode);
        return unitOfWork.locked(name, work, mode);
      },
      checked: (name, steps) => unitOfWork.checked(name, steps),
    };
    const { finisher, alertRules, history, log } = jobsRig({ ...repositories, unitOfWork: noting }, store.source);
    if (rule) await alertRules.add(aRule(rule));
    const call = ended(aCall(), status, at(1));
    await finisher.finishCall(call, log);
    expect((await history()).map(({ id }) => id)).toEqual([call.id]);
    return modes;
  }

  it('needs no locked unit of work if there is no rule', async () => {
    expect(await locksFor(null, 'failed')).toEqual([]);
  });

  it.each<[string, Partial<AlertRule>, FinalStatus]>([
    ['a failure of another kind', { jobKind: 'external', failuresInARow: 1 }, 'failed'],
    ['a success after another success', { failuresInARow: 0 }, 'succeeded'],
    ['a cancelled call', { failuresInARow: 2 }, 'cancelled'],
    ['a call that took just as long as allowed', { ...tooLong, threshold: 1 }, 'succeeded'],
    ['a long call, for a disabled rule', { ...tooLong, enabled: false }, 'succeeded'],
  ])('takes only the shared lock if no rule reacts: %s', async (_, rule, status) => {
    expect(await locksFor(rule, status)).toEqual(['shared']);
  });

  it.each<[string, Partial<AlertRule>, FinalStatus]>([
    ['a failure', {}, 'failed'],
    ['a failure of the kind', { jobKind: 'chat' }, 'failed'],
    ['a failure, for a disabled rule', { enabled: false }, 'failed'],
    ['a success after a failure', { failuresInARow: 1 }, 'succeeded'],
    ['a success after the rule fired', { failuresInARow: 3, firedInRun: true }, 'succeeded'],
    ['a call that took too long', tooLong, 'succeeded'],
  ])('takes the shared and then the exclusive lock if a rule reacts: %s', async (_, rule, status) => {
    expect(await locksFor(rule, status)).toEqual(['shared', 'exclusive']);
  });
});
