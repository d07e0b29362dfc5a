import { Job } from '../../../src/domain/jobs/job.js';
import { OwnCall } from '../../../src/domain/jobs/own-call.js';
import { Budget } from '../../../src/domain/spend/budget.js';
import { NOTHING } from '../../../src/domain/spend/demand.js';
import { atOnce } from '../../support/barrier.js';
import { at, ended, ids } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

const ONE = 1_000_000_000n;

export function ownCallsContract(adapter: string, store: StoreUnderTest) {
  describe(`OwnCalls in ${adapter}`, () => {
    let stock: StockedStore;
    let job: Job;
    beforeEach(async () => {
      stock = await stocked(store);
      const { team, project, account } = stock;
      job = Job.evaluation({
        ...{ id: ids.next('job'), teamId: team.id, projectId: project.id, requestedBy: account.id, createdAt: at(0) },
        ...{ name: null, datasetId: 'dst_1', modelId: 'mdl_1', progress: { done: 0, total: 2 } },
      });
      await stock.jobs.add([job]);
    });

    const call = (number: number, over: Partial<OwnCall> = {}): OwnCall => ({
      ...{ id: OwnCall.id(job.id, 1, number), jobId: job.id, teamId: stock.team.id, projectId: stock.project.id },
      ...{ modelId: 'mdl_2', requestedBy: stock.account.id, status: 'succeeded', createdAt: at(1), finishedAt: at(2) },
      usage: { keyId: null, tokensIn: 20, tokensOut: 13, firstToken: null, failure: null },
      cost: '0.100000001',
      ...over,
    });
    const taken = { cost: 100_000_001n, tokens: 33n * ONE, calls: ONE, seconds: 250_000_000n };
    const append = (
      one: OwnCall,
      charge = { taken, isHeld: false },
      { ownCalls } = stock as Pick<StockedStore, 'ownCalls'>,
    ) => ownCalls.append(one, charge);
    const stored = async () => (await stock.jobs.find(job.id)) as Job;
    const sums = async (groupBy: 'project' | 'model' = 'model') => {
      const query = { scope: stock.team.id, bucket: 'day', groupBy, since: at(-86_400), until: at(86_400) } as const;
      return (await stock.usage.sums(query)).map(({ group, calls, cost, tokensIn }) => ({
        group,
        calls,
        cost,
        tokensIn,
      }));
    };
    const budget = async (unit: Budget['unit'], over: Partial<Budget> = {}) => {
      const { team } = stock;
      const about = {
        id: ids.next('bud'),
        teamId: team.id,
        scope: 'team',
        scopeId: team.id,
        unit,
        limit: 500n * ONE,
      } as const;
      const rest = { period: 'day', onExceed: 'refuse', createdBy: null, ofAdmin: true, createdAt: at(0) } as const;
      await stock.budgets.add({ ...about, ...rest, ...over });
      return async (now = at(3)) => (await stock.budgets.find(about.id, now))?.spent;
    };

    it('are stored once, and add their figures to their job, whether it has ended or not', async () => {
      expect((await stored()).usage).toEqual({
        ...{ keyId: null, tokensIn: null, tokensOut: null, firstToken: null, failure: null, calls: 0, seconds: 0 },
      });
      const elsewhere = await store.elsewhere();
      const twice = await atOnce(2, (party) => append(call(1), undefined, party === 0 ? stock : elsewhere));
      expect(twice.sort()).toEqual([false, true]);
      await append(
        call(2, { cost: null, status: 'failed', usage: { ...call(2).usage, tokensIn: null, tokensOut: null } }),
        {
          taken: NOTHING,
          isHeld: false,
        },
      );
      const end = ended(await stored());
      await stock.unitOfWork.run(() => stock.jobHistory.append(end, true));
      await append(call(3));
      const { cost, usage } = await stored();
      expect({ cost, usage }).toEqual({
        cost: '0.200000002',
        usage: { keyId: null, tokensIn: 40, tokensOut: 26, firstToken: null, failure: null, calls: 2, seconds: 0.5 },
      });
    });

    it('add their figures to a job of an earlier version, which has no usage', async () => {
      await stock.jobs.update({ ...job, usage: null });
      await append(call(1));
      expect((await stored()).usage).toEqual({
        ...{ keyId: null, tokensIn: 20, tokensOut: 13, firstToken: null, failure: null, calls: 1, seconds: 0.25 },
      });
    });

    it('count in the usage once, before and after it is rolled up, and are forgotten only then', async () => {
      for (const number of [1, 2]) await append(call(number));
      const shown = [{ group: 'mdl_2', calls: 2, cost: '0.200000002', tokensIn: 40 }];
      expect(await sums()).toEqual(shown);
      expect(await stock.jobHistory.forgetCalls(at(10), 9)).toBe(0);
      const last = await stock.usage.unrolled();
      expect(await stock.unitOfWork.run(() => stock.usage.rollUp(last ?? '0', 9, at(3)))).toBe(false);
      expect(await stock.usage.unrolled()).toBeNull();
      expect(await sums()).toEqual(shown);
      expect(await stock.jobHistory.forgetCalls(at(2), 9)).toBe(0);
      expect([await stock.jobHistory.forgetCalls(at(10), 1), await stock.jobHistory.forgetCalls(at(10), 9)]).toEqual([
        1, 1,
      ]);
      expect(await sums('project')).toMatchObject([{ group: stock.project.id, calls: 2 }]);
      expect(await stored()).toMatchObject({ cost: '0.200000002' });
    });

    it('settle their holds, and count in budgets that are created while they run or later', async () => {
      const [first, minutes] = [await budget('calls'), await budget('cost', { period: 'minute' })];
      const { team, project, account } = stock;
      const spender = { instance: 7, teamId: team.id, projectId: project.id, accountId: account.id, keyId: null };
      const demand = { promptTokens: 10, answers: 1, mostTokens: 90, isExact: true, mostMs: 60_000, prices: null };
      await stock.holds.take({ ...spender, callId: call(1).id }, demand, at(1));
      const during = await budget('tokens', { createdAt: at(1.5) });
      for (const _ of [1, 2]) await append(call(1, { finishedAt: at(61) }), { taken, isHeld: true });
      const later = { cost: taken.cost, tokens: taken.tokens, calls: taken.calls, seconds: taken.seconds };
      for (const unit of ['cost', 'tokens', 'calls', 'seconds'] as const)
        expect([unit, await (await budget(unit, { createdAt: at(62) }))()]).toEqual([
          unit,
          { settled: later[unit], held: 0n },
        ]);
      expect([await first(), await during()]).toMatchObject([{ settled: ONE, held: 0n }, { settled: 33n * ONE }]);
      expect([await minutes(), await minutes(at(61))]).toMatchObject([{ settled: taken.cost }, { settled: 0n }]);
      const nextMinute = await budget('cost', { period: 'minute', createdAt: at(62) });
      expect(await nextMinute(at(62))).toEqual({ settled: 0n, held: 0n });
    });
  });
}
