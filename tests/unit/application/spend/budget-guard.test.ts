import { StorageUnavailable } from '../../../../src/domain/shared/errors.js';
import type { Budget } from '../../../../src/domain/spend/budget.js';
import { costText } from '../../../../src/domain/spend/cost.js';
import { Prices } from '../../../../src/domain/spend/prices.js';
import { ManualClock } from '../../../fakes/shared/manual-clock.js';
import { query } from '../../../support/database.js';
import { type JobsRig, jobsRig } from '../../../support/jobs-rig.js';
import { postgresUnderTest } from '../../../support/postgres-repositories.js';
import { accountCaller, randomCalls } from '../../../support/random-calls.js';
import { anAccount, anApiKey, aProject, aTeam, at, ids } from '../../../support/records.js';
import { until } from '../../../support/until.js';

const store = postgresUnderTest();
const ONE = 1_000_000_000n;
const CALLS = 400;

describe('budgets', () => {
  const rigs: JobsRig[] = [];
  afterEach(async () => {
    for (const { running, processes } of rigs.splice(0)) {
      await until('the calls are stored', () => !Reflect.get(running, 'storing'));
      await processes.leave();
    }
  });

  /** Makes an instance with a team, and another instance on the same database. */
  const setUp = async () => {
    const broken = { take: false, settle: false, end: false };
    const failIf = (isBroken: boolean) => {
      if (isBroken) throw new StorageUnavailable();
    };
    const here = await store.open();
    const { holds, jobHistory } = here;
    const failing = {
      ...here,
      holds: Object.assign(Object.create(holds), {
        take: async (...args: Parameters<typeof holds.take>) => {
          const taken = await holds.take(...args);
          failIf(broken.take); // only the confirmation is lost
          return taken;
        },
        settle: async (...args: Parameters<typeof holds.settle>) => {
          failIf(broken.settle);
          await holds.settle(...args);
        },
      }),
      jobHistory: Object.assign(Object.create(jobHistory), {
        appendWithoutRules: async (...args: Parameters<typeof jobHistory.appendWithoutRules>) => {
          failIf(broken.end);
          return jobHistory.appendWithoutRules(...args);
        },
      }),
    };
    const rig = jobsRig(failing, store.source, new ManualClock(at(0)));
    const other = jobsRig(await store.elsewhere(), store.source, new ManualClock(at(0)));
    rigs.push(rig, other);
    const team = aTeam();
    const [account, project] = [anAccount(team), aProject(team)];
    const key = anApiKey(account);
    await here.teams.add(team);
    await here.accounts.add(account);
    await here.credentials.add(key);
    await here.projects.add(project);
    const by = accountCaller({ accountId: account.id, teamId: team.id, credentialId: key.id });
    const scopes = { team: team.id, project: project.id, account: account.id, key: key.id };
    const budget = async (over: Partial<Budget> & Pick<Budget, 'unit'>) => {
      const scope = over.scope ?? 'team';
      const about = {
        id: ids.next('bud'),
        teamId: team.id,
        scope,
        scopeId: scopes[scope],
        limit: 1_000_000_000n * ONE,
      };
      const rest = { period: 'day', onExceed: 'refuse', createdBy: null, ofAdmin: true, createdAt: at(0) } as const;
      await here.budgets.add({ ...about, ...rest, ...over });
      return async () => (await here.budgets.find(about.id, rig.clock.now()))?.spent;
    };
    const prices = Prices.ofModel({ prices: { input: 500_000, output: 1_000_000, per_call: 0.5 } });
    const demand = async () => ({
      promptTokens: 10,
      answers: 1,
      mostTokens: 20,
      isExact: true,
      mostMs: 60_000,
      prices,
    });
    const open = () =>
      rig.tracking.open({
        ...{
          by,
          projectId: project.id,
          pricesOf: () => prices,
          kind: 'chat',
          name: null,
          modelId: null,
          signal: new AbortController().signal,
        },
        guard: (callId, now) => rig.guard.take({ by, callId, projectId: project.id, at: now, demand }),
      });
    return { ...rig, other, broken, budget, by, open, projectId: project.id };
  };

  it(`are the sum of the jobs and of the usage, to nine decimal places, after ${CALLS} random calls`, async () => {
    const { budget, by, projectId, usage, ...rig } = await setUp();
    const [tokens, calls] = [
      await budget({ unit: 'tokens', scope: 'project' }),
      await budget({ unit: 'calls', scope: 'key' }),
    ];
    const [team, account] = [
      await budget({ unit: 'cost' }),
      await budget({ unit: 'cost', scope: 'account', period: 'month' }),
    ];
    const sum = await randomCalls(rig, { by, projectId, count: CALLS });
    for (const spent of [team, account]) expect(await spent()).toEqual({ settled: sum, held: 0n });
    const late = await budget({ unit: 'cost', scope: 'key', period: 'total' });
    expect(await late()).toEqual({ settled: sum, held: 0n });
    const of = (sql: string) =>
      query<{ sum: string }>(store.url, `SELECT ${sql}::text AS sum FROM jobs`).then(([row]) => row?.sum);
    expect(await of('sum(cost)')).toBe(costText(sum));
    const charged = `FILTER (WHERE usage->>'tokensIn' IS NOT NULL)`;
    const ofTokens = await of(`sum((usage->>'tokensIn')::int + (usage->>'tokensOut')::int) ${charged}`);
    expect(await tokens()).toEqual({ settled: BigInt(ofTokens ?? 0) * ONE, held: 0n });
    expect(await calls()).toEqual({ settled: BigInt((await of(`count(*) ${charged}`)) ?? 0) * ONE, held: 0n });
    const entries = await usage.sums({
      scope: by.teamId,
      bucket: 'day',
      groupBy: null,
      since: at(-86_400),
      until: at(86_400),
    });
    expect(entries.map((entry) => entry.cost)).toEqual([costText(sum)]);
  });

  it('charge what a dead instance may have made, whether its calls are stored or not', async () => {
    const { budget, open, other, processes, running } = await setUp();
    const [cost, calls] = [await budget({ unit: 'cost' }), await budget({ unit: 'calls', scope: 'key' })];
    running.delayMs = 0;
    (await open()).admitted();
    await until('the call is stored', async () => (await other.allJobs()).length === 1);
    running.delayMs = 100_000;
    (await open()).admitted();
    expect(await cost()).toEqual({ settled: 0n, held: 51n * ONE });
    await other.reaper.execute();
    await processes.leave();
    for (const seconds of [0, 2, 3]) {
      other.clock.advance(1_000 * seconds);
      await other.reaper.execute();
    }
    // 10 tokens of the prompt, 20 of the answer, and the price of a call.
    expect(await cost()).toEqual({ settled: 51n * ONE, held: 0n });
    expect(await calls()).toEqual({ settled: 2n * ONE, held: 0n });
    const [job] = await other.allJobs();
    expect(job).toMatchObject({ status: 'failed', cost: '25.500000000', usage: { tokensIn: 10, tokensOut: 20 } });
    // A later budget sees the call that was stored.
    const amounts = { cost: 25n * ONE + ONE / 2n, tokens: 30n * ONE, calls: ONE, seconds: 60n * ONE };
    for (const unit of ['cost', 'tokens', 'calls', 'seconds'] as const)
      expect([unit, await (await budget({ unit }))()]).toEqual([unit, { settled: amounts[unit], held: 0n }]);
  });

  it('hold nothing for ever when the database was out of reach', async () => {
    const { budget, open, broken, reaper, clock } = await setUp();
    const spent = await budget({ unit: 'calls' });
    const [refused, succeeded] = [await open(), await open()];
    succeeded.admitted();
    broken.settle = true;
    await refused.refused();
    broken.end = true;
    await expect(succeeded.succeeded({ tokensIn: 1, tokensOut: 1, firstToken: null })).rejects.toThrow(
      StorageUnavailable,
    );
    broken.end = false;
    broken.take = true;
    await expect(open()).rejects.toThrow(StorageUnavailable);
    broken.take = false;
    await reaper.execute();
    expect(await spent()).toEqual({ settled: ONE, held: 2n * ONE });
    broken.settle = false;
    await reaper.execute();
    expect(await spent()).toEqual({ settled: ONE, held: ONE }); // the statement that took it may still run
    clock.advance(5_000);
    await reaper.execute();
    expect(await spent()).toEqual({ settled: ONE, held: 0n });
  });
});
