import type { Job } from '../../../src/domain/jobs/job.js';
import { Budget, budgetPeriods } from '../../../src/domain/spend/budget.js';
import { nanosOfCost } from '../../../src/domain/spend/cost.js';
import type { Amounts, Demand } from '../../../src/domain/spend/demand.js';
import { Prices } from '../../../src/domain/spend/prices.js';
import { atOnce, barrier } from '../../support/barrier.js';
import { aCall, anAccount, anApiKey, aProject, aTeam, at, ended, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

const ONE = 1_000_000_000n;
const units = (count: number) => BigInt(count) * ONE;
const nothing: Amounts = { cost: 0n, tokens: 0n, calls: 0n, seconds: 0n };
const aCallTook = (over: Partial<Amounts> = {}): Amounts => ({ ...nothing, calls: ONE, ...over });

const demand = (over: Partial<Demand> = {}): Demand => ({
  promptTokens: 10,
  answers: 1,
  mostTokens: 90,
  isExact: true,
  mostMs: 60_000,
  prices: null,
  ...over,
});

export function budgetsContract(adapter: string, store: StoreUnderTest) {
  describe(`Budgets in ${adapter}`, () => {
    let here: Repositories;
    let elsewhere: Repositories;
    let [teamId, projectId, otherProject, accountId, keyId] = ['', '', '', '', ''];

    beforeEach(async () => {
      here = await store.open();
      elsewhere = await store.elsewhere();
      const team = aTeam();
      await here.teams.add(team);
      const [account, project, other] = [anAccount(team), aProject(team), aProject(team)];
      const key = anApiKey(account);
      await here.accounts.add(account);
      await here.credentials.add(key);
      for (const one of [project, other]) await here.projects.add(one);
      [teamId, projectId, otherProject, accountId, keyId] = [team.id, project.id, other.id, account.id, key.id];
    });

    const aBudget = (over: Partial<Budget> = {}): Budget => ({
      ...{ id: ids.next('bud'), teamId, scope: 'team', scopeId: teamId, unit: 'calls', limit: units(20) },
      ...{ period: 'day', onExceed: 'refuse', createdBy: 'usr_1', ofAdmin: true, createdAt: at(0) },
      ...over,
    });
    const added = async (over: Partial<Budget> = {}) => {
      const budget = aBudget(over);
      await here.budgets.add(budget);
      return budget;
    };
    const spender = (callId: string) => ({
      ...{ callId, instance: 7, teamId, projectId, accountId, keyId },
    });
    const take = (over: Partial<Demand> = {}, { holds } = here, callId = ids.next('job'), now = at(1)) =>
      holds.take(spender(callId), demand(over), now).then((taken) => ({ callId, taken }));
    const spent = async ({ id }: Budget, now = at(1)) => (await elsewhere.budgets.find(id, now))?.spent;

    it('are found, listed, changed and removed', async () => {
      const [one, other] = [await added(), await added({ scope: 'key', scopeId: keyId, limit: 0n })];
      const none = { settled: 0n, held: 0n };
      expect(await here.budgets.find(one.id, at(0))).toEqual({ ...one, spent: none });
      const page = { limit: 9, after: null };
      expect(await here.budgets.list({ teamId }, page, at(0))).toMatchObject([{ id: other.id }, { id: one.id }]);
      expect(await here.budgets.list({ teamId, keys: [keyId] }, page, at(0))).toMatchObject([{ id: other.id }]);
      expect(await here.budgets.list({ teamId, keys: [] }, page, at(0))).toEqual([]);
      expect(await here.budgets.list({ teamId: 'tea_2' }, page, at(0))).toEqual([]);
      const some = (ids: string[]) => here.budgets.some(ids, at(0));
      expect(await some([one.id, 'bud_gone'])).toEqual([{ ...one, spent: none }]);
      expect(await some([])).toEqual([]);
      expect(await here.budgets.count(teamId)).toBe(2);
      expect(await here.budgets.update('bud_gone', { limit: 5n })).toBe(false);
      expect(await here.budgets.update(one.id, { limit: 5n })).toBe(true);
      expect(await here.budgets.find(one.id, at(0))).toMatchObject({ limit: 5n, onExceed: 'refuse' });
      expect(await here.budgets.update(one.id, { onExceed: 'alert' })).toBe(true);
      expect(await here.budgets.find(one.id, at(0))).toMatchObject({ limit: 5n, onExceed: 'alert' });
      expect(await here.budgets.remove(one.id)).toBe(true);
      expect(await here.budgets.remove(one.id)).toBe(false);
      expect(await here.budgets.find(one.id, at(0))).toBeNull();
    });

    it('count what their period has already seen', async () => {
      const usage = { keyId, tokensIn: 3, tokensOut: 4, firstToken: null, failure: null };
      const call = (over: object) => ({ ...ended(aCall({ teamId })), usage, cost: '0.100000001', ...over });
      const failed = { ...call({}), ...ended(aCall({ teamId }), 'failed', at(0)), cost: '0.000000000' };
      await here.unitOfWork.run(async () => {
        for (const job of [call({}), call({}), failed, call({ finishedAt: at(-90_000) })])
          await here.jobHistory.append(job, false);
      });
      const scopes = { cost: nanosOfCost('0.200000002'), tokens: units(14), calls: units(2), seconds: units(2) };
      for (const [unit, settled] of Object.entries(scopes))
        expect([unit, await spent(await added({ unit: unit as Budget['unit'] }))]).toEqual([
          unit,
          { settled, held: 0n },
        ]);
      const ofKey = await added({ scope: 'key', scopeId: keyId });
      const ofOther = await added({ scope: 'project', scopeId: otherProject });
      expect([await spent(ofKey), await spent(ofOther)]).toMatchObject([{ settled: units(2) }, { settled: 0n }]);
    });

    it.each([1, 2])('never give more than their limit to calls at once, on %s instances', async (instances) => {
      const budget = await added();
      const ready = barrier(60);
      const took = await atOnce(60, async (party) => {
        await ready();
        return take({}, party % instances === 0 ? here : elsewhere);
      });
      const served = took.filter(({ taken }) => !('refused' in taken));
      expect(served).toHaveLength(20);
      expect(await spent(budget)).toEqual({ settled: 0n, held: units(20) });
      await atOnce(60, (party) => (party % 2 ? here : elsewhere).holds.settle(took[party]?.callId ?? '', aCallTook()));
      expect(await spent(budget)).toEqual({ settled: units(20), held: 0n });
      expect((await take()).taken).toMatchObject({ refused: { id: budget.id } });
      expect(await spent(budget, at(86_400))).toEqual({ settled: 0n, held: 0n });
    });

    it('count the calls up to an end first, and then only those after it', async () => {
      const end = async () =>
        expect(await here.jobHistory.appendWithoutRules(anEnd(ids.next('job'), at(0)))).toBe(true);
      await end();
      await end();
      const upTo = await here.budgets.lastEnd();
      await end();
      const budget = aBudget({ period: 'total', createdAt: at(1) });
      const counted = await here.budgets.counted(budget, upTo);
      expect(counted).toMatchObject({ upTo, taken: units(2) });
      await here.budgets.add(budget, counted);
      expect(await spent(budget)).toEqual({ settled: units(3), held: 0n });
      const later = aBudget({ period: 'total', createdAt: at(1) });
      await here.budgets.add(later, { ...counted, taken: units(100) });
      expect(await spent(later)).toEqual({ settled: units(101), held: 0n });
      const other = aBudget({ period: 'day', createdAt: at(1) });
      await here.budgets.add(other, { ...counted, taken: units(100) }); // of another period
      expect(await spent(other)).toEqual({ settled: units(3), held: 0n });
    });

    it('take a hold on all budgets or on none, and settle a hold once', async () => {
      const team = await added({ unit: 'tokens', limit: units(250) });
      const key = await added({ scope: 'key', scopeId: keyId, limit: units(1) });
      const alerting = await added({ scope: 'account', scopeId: accountId, limit: 0n, onExceed: 'alert' });
      const { callId, taken } = await take();
      expect(taken).toEqual({ promptTokens: 10, mostTokens: 90, mostMs: 60_000, budgets: 3 });
      expect((await take()).taken).toMatchObject({ refused: { id: key.id } });
      expect(await spent(team)).toEqual({ settled: 0n, held: units(100) });
      expect(await here.holds.most(callId)).toMatchObject({
        taken: { tokens: units(100), calls: ONE, seconds: units(60) },
      });
      for (const _ of [1, 2]) await here.holds.settle(callId, aCallTook({ tokens: units(42) }));
      expect(await spent(team)).toEqual({ settled: units(42), held: 0n });
      expect(await spent(alerting)).toEqual({ settled: ONE, held: 0n });
      expect(await here.holds.most(callId)).toBeNull();
    });

    it('cut a bound that is not exact to what remains, by tokens, cost and time', async () => {
      await added({ unit: 'tokens', limit: units(50) });
      expect((await take({ isExact: false })).taken).toMatchObject({ mostTokens: 40 });
      expect((await take({ isExact: false })).taken).toHaveProperty('refused');
      const prices = Prices.ofModel({ prices: { input: 500_000, output: 1_000_000 } as never });
      for (const { id } of await here.budgets.list({ teamId }, { limit: 9, after: null }, at(1)))
        await here.budgets.remove(id);
      await added({ unit: 'cost', limit: units(31) });
      await added({ unit: 'seconds', limit: units(5) });
      expect((await take({ isExact: false, mostTokens: null, prices })).taken).toMatchObject({
        mostTokens: 26,
        mostMs: 5_000,
      });
    });

    it('keep a call in the period of its hold, and list the holds of an instance', async () => {
      const budget = await added({ period: 'minute' });
      const { callId } = await take();
      expect([await here.holds.instances(), await here.holds.callsOf(7, 9)]).toEqual([[7], [callId]]);
      await here.holds.settle(callId, aCallTook());
      expect(await spent(budget, at(1))).toEqual({ settled: ONE, held: 0n });
      expect(await spent(budget, at(61))).toEqual({ settled: 0n, held: 0n });
      expect(await here.holds.instances()).toEqual([]);
    });

    it('are settled with the end of a call, once', async () => {
      const budget = await added({ unit: 'tokens', limit: units(500) });
      const job = ended(aCall({ teamId }));
      await take({}, here, job.id);
      const charge = { taken: aCallTook({ tokens: units(33) }), isHeld: true };
      expect(await here.jobHistory.appendWithoutRules(job, { charge })).toBe(true);
      expect(await elsewhere.jobHistory.appendWithoutRules(job, { charge })).toBe(false);
      expect(await spent(budget)).toEqual({ settled: units(33), held: 0n });
    });

    const anEnd = (callId: string, createdAt = at(1)) => {
      const usage = { keyId, tokensIn: 20, tokensOut: 13, firstToken: null, failure: null };
      const job = ended(aCall({ id: callId, teamId, projectId, requestedBy: accountId, createdAt }));
      return { ...job, usage, cost: '0.100000001' };
    };
    const tookAll = aCallTook({ tokens: units(33), cost: 100_000_001n });

    it('are settled by calls that end together on two instances, in any order of their projects', async () => {
      const projects = [projectId, otherProject];
      const budgets: Budget[] = [];
      for (const scopeId of projects) budgets.push(await added({ scope: 'project', scopeId }));
      const calls = Array.from({ length: 40 }, (_, nth) => aCall({ teamId, projectId: projects[nth % 2] ?? '' }));
      const take = (job: Job) => here.holds.take({ ...spender(job.id), projectId: job.projectId }, demand(), at(1));
      for (const taken of await Promise.all(calls.map(take))) expect(taken).toMatchObject({ budgets: 1 });
      const end = (job: Job, nth: number) => {
        const { jobHistory } = nth % 4 < 2 ? here : elsewhere;
        return jobHistory.appendWithoutRules(ended(job), { charge: { taken: aCallTook(), isHeld: true } });
      };
      expect(new Set(await Promise.all(calls.map(end)))).toEqual(new Set([true]));
      for (const budget of budgets) expect(await spent(budget)).toEqual({ settled: units(20), held: 0n });
    });

    it('give the room of calls that end to the calls that begin with them', async () => {
      const budget = await added({ limit: units(3) });
      const calls = Array.from({ length: 3 }, () => ids.next('job'));
      for (const callId of calls) await take({}, here, callId);
      const charge = { taken: nothing, isHeld: true };
      const first = here.jobHistory.appendWithoutRules(ended(aCall({ teamId })), { charge }); // is stored alone
      const ends = calls.map((callId) => here.jobHistory.appendWithoutRules(anEnd(callId), { charge }));
      const begun = [at(1), at(2), at(90)].map((now) => take({}, here, ids.next('job'), now));
      expect(await Promise.all([first, ...ends])).toEqual([true, true, true, true]);
      for (const { taken } of await Promise.all(begun)) expect(taken).toMatchObject({ budgets: 1 });
      expect(await spent(budget)).toEqual({ settled: 0n, held: units(3) });
    });

    it('hold for calls that begin with the end of a call that cannot be stored', async () => {
      const budget = await added();
      const charge = { taken: nothing, isHeld: true };
      const first = here.jobHistory.appendWithoutRules(ended(aCall({ teamId })), { charge });
      const bad = here.jobHistory.appendWithoutRules({ ...ended(aCall({ teamId })), error: 'a\0b' }, { charge });
      const begun = take();
      await expect(Promise.all([first, bad])).rejects.toThrow();
      expect((await begun).taken).toMatchObject({ budgets: 1 });
      expect(await spent(budget)).toEqual({ settled: 0n, held: units(1) });
    });

    it('are settled although a call that begins in the next period with the end cannot be stored', async () => {
      const budget = await added();
      const { callId } = await take();
      const charge = { taken: aCallTook(), isHeld: true };
      const first = here.jobHistory.appendWithoutRules(ended(aCall({ teamId })), {
        charge: { ...charge, taken: nothing },
      });
      const end = here.jobHistory.appendWithoutRules(anEnd(callId), { charge });
      const begun = [take(), take({}, here, 'a\0b', at(90)), take({}, here, ids.next('job'), at(90))];
      expect(await Promise.all([first, end])).toEqual([true, true]);
      const statuses = (await Promise.allSettled(begun)).map(({ status }) => status);
      expect(statuses).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await spent(budget)).toEqual({ settled: units(1), held: units(2) });
    });

    it('count a call with holds on others that arrived before them, whatever the clocks of the instances say', async () => {
      const first = await added();
      const held = anEnd(ids.next('job'), at(2));
      await take({}, here, held.id);
      const later = await added({ createdAt: at(0) });
      expect(await here.jobHistory.appendWithoutRules(held, { charge: { taken: aCallTook(), isHeld: true } })).toBe(
        true,
      );
      for (const budget of [first, later]) expect(await spent(budget)).toEqual({ settled: units(1), held: 0n });
    });

    it('count calls that ran when they were created, whether these hold others or not', async () => {
      const first = await added();
      const held = anEnd(ids.next('job'), at(0));
      await take({}, here, held.id);
      const later = await added({ unit: 'tokens', createdAt: at(0.5) });
      expect(await here.jobHistory.appendWithoutRules(held, { charge: { taken: tookAll, isHeld: true } })).toBe(true);
      const unheld = anEnd(ids.next('job'), at(0));
      await here.jobHistory.appendWithoutRules(unheld, { charge: { taken: tookAll, isHeld: false } });
      expect([await spent(first), await spent(later)]).toEqual([
        { settled: units(2), held: 0n },
        { settled: units(66), held: 0n },
      ]);
      // Without a hold, a call that the reaper has settled is not charged again.
      await here.jobHistory.appendWithoutRules(anEnd(ids.next('job')), { charge: { taken: tookAll, isHeld: true } });
      expect(await spent(first)).toEqual({ settled: units(2), held: 0n });
    });

    it('count the days before the calls that are stored one by one, by their usage', async () => {
      const [old, now] = [at(-40 * 86_400), at(0)];
      const call = { ...anEnd(ids.next('job'), old), finishedAt: new Date(old.getTime() + 1_000) };
      await here.jobHistory.append(call, false);
      await here.usage.rollUp((await here.usage.unrolled()) ?? '0', 9, now);
      for (const scope of [teamId, projectId, accountId, keyId]) {
        const names = { [teamId]: 'team', [projectId]: 'project', [accountId]: 'account', [keyId]: 'key' } as const;
        const about = {
          scope: names[scope] as Budget['scope'],
          scopeId: scope,
          period: 'total',
          createdAt: now,
        } as const;
        const settled = async (unit: Budget['unit']) => (await spent(await added({ ...about, unit })))?.settled;
        expect(await settled('cost')).toBe(100_000_001n);
        expect([await settled('tokens'), await settled('calls')]).toEqual([units(33), units(1)]);
      }
      expect(await spent(await added({ scope: 'project', scopeId: otherProject, period: 'total' }))).toMatchObject({
        settled: 0n,
      });
    });

    it('are settled with their bounds if nobody knows what the call has taken', async () => {
      const [tokens, seconds] = [
        await added({ unit: 'tokens', limit: units(500) }),
        await added({ unit: 'seconds', limit: units(90) }),
      ];
      const { callId } = await take();
      await elsewhere.holds.settle(callId, null);
      expect(await spent(tokens)).toEqual({ settled: units(100), held: 0n });
      expect(await spent(seconds)).toEqual({ settled: units(60), held: 0n });
    });

    it.each(['2026-03-01T00:00:00Z', '2025-12-29T00:00:00Z', '2024-02-29T23:59:59.999Z', '2026-11-28T12:34:56.789Z'])(
      'have periods that begin at boundaries of UTC, at %s',
      async (time) => {
        const now = new Date(time);
        for (const period of budgetPeriods) {
          const budget = await added({ period, scope: 'key', scopeId: keyId, createdAt: at(0) });
          const { callId } = await take({}, here, ids.next('job'), now);
          await here.holds.settle(callId, aCallTook());
          const [start, end] = [Budget.start(period, now), Budget.resetsAt(period, now)];
          const settledAt = async (ms: number) => (await spent(budget, new Date(ms)))?.settled;
          expect([period, await settledAt(start.getTime())]).toEqual([period, ONE]);
          if (!end) continue;
          expect([period, await settledAt(start.getTime() - 1)]).toEqual([period, 0n]);
          expect([period, await settledAt(end.getTime() - 1)]).toEqual([period, ONE]);
          expect([period, await settledAt(end.getTime())]).toEqual([period, 0n]);
        }
      },
    );

    it('are removed with their scope, which frees nothing else', async () => {
      const [ofTeam, ofKey] = [await added(), await added({ scope: 'key', scopeId: keyId })];
      const { callId } = await take();
      expect(await here.budgets.remove(ofKey.id)).toBe(true);
      const ofProject = await added({ scope: 'project', scopeId: projectId });
      await here.projects.remove({ id: projectId, version: 1 });
      expect(await here.budgets.find(ofProject.id, at(1))).toBeNull();
      expect(await spent(ofTeam)).toEqual({ settled: 0n, held: ONE });
      await here.holds.settle(callId, aCallTook());
      expect(await spent(ofTeam)).toEqual({ settled: ONE, held: 0n });
    });
  });
}
