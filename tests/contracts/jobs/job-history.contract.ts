import { setTimeout as delay } from 'node:timers/promises';
import { FINISHING } from '../../../src/application/jobs/job-finisher.js';
import type { HistoryPart } from '../../../src/application/jobs/ports.js';
import { UsageRollUp } from '../../../src/application/jobs/usage.service.js';
import type { FinalStatus, FinishedJob, Job } from '../../../src/domain/jobs/job.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { atOnce, gate } from '../../support/barrier.js';
import { aCall, aJob, aRule, at, ended } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function jobHistoryContract(adapter: string, store: StoreUnderTest) {
  describe(`JobHistory in ${adapter}`, () => {
    let repositories: Repositories;
    let history: Repositories['jobHistory'];

    beforeEach(async () => {
      repositories = await store.open();
      history = repositories.jobHistory;
    });

    const append = async (...jobs: (Job & FinishedJob)[]) => {
      await repositories.unitOfWork.run(async () => {
        for (const job of jobs) await history.append(job, true);
      });
      return jobs;
    };
    const part = async (which: Partial<HistoryPart> = {}) => {
      const jobs: FinishedJob[] = [];
      for await (const job of history.part({ kind: null, since: null, most: 10_000, ...which })) jobs.push(job);
      return jobs;
    };
    const entryOf = ({ id, teamId, kind, mode, status, projectId, requestedBy, ...job }: Job & FinishedJob) => {
      const { createdAt, startedAt, finishedAt, usage, cost } = job;
      return { id, teamId, kind, mode, status, projectId, requestedBy, createdAt, startedAt, finishedAt, usage, cost };
    };
    /** Appends a job for each letter: `f` failed, `s` succeeded, `c` cancelled. */
    const appendStatuses = (statuses: string, create: () => Job = aJob) => {
      const meaning: Record<string, FinalStatus> = { f: 'failed', s: 'succeeded', c: 'cancelled' };
      return append(...[...statuses].map((letter) => ended(create(), meaning[letter])));
    };

    it('stores the end of jobs whether their beginning is stored or not', async () => {
      const there = aJob();
      await repositories.jobs.add([there]);
      const [one, two] = [
        { ...ended(there, 'failed', at(5)), error: 'e', result: { a: 1 }, progress: { done: 3, total: 4 } },
        ended(aCall()),
      ];
      await append(one, two);
      expect(await repositories.jobs.find(one.id)).toEqual(one);
      expect(await (await store.elsewhere()).jobs.find(two.id)).toEqual(two);
    });

    it('keeps the order in which jobs were appended, not the order of their ids or times', async () => {
      const [a, b, c, d] = [aJob(), aCall(), aJob(), aJob()];
      await repositories.jobs.add([d]);
      const order = [ended(d, 'succeeded', at(9)), ended(b, 'failed', at(3))];
      await append(...order);
      await append(ended(c, 'cancelled', at(1)));
      await append(ended(a, 'failed', at(2)));
      expect(await part()).toEqual([
        ...order.map(entryOf),
        entryOf(ended(c, 'cancelled', at(1))),
        entryOf(ended(a, 'failed', at(2))),
      ]);
    });

    it('stores the end of a call at once if there is no alert rule', async () => {
      const [there, other] = [aCall(), aCall()];
      await repositories.jobs.add([there]);
      const [one, two] = [{ ...ended(there, 'failed', at(5)), error: 'e' }, ended(other)];
      for (const job of [one, two]) expect(await history.appendWithoutRules(job)).toBe(true);
      expect(await history.appendWithoutRules(ended(there, 'succeeded'))).toBe(false);
      expect(await part()).toEqual([one, two].map(entryOf));
      expect(await repositories.jobs.find(one.id)).toEqual(one);
    });

    it('stores the ends of calls that arrive together, each once, although one of them cannot be stored', async () => {
      const calls = Array.from({ length: 6 }, () => ended(aCall()));
      const bad = { ...ended(aCall()), error: 'a\0b' };
      const arriving = [...calls, bad, ...calls].map((job) => history.appendWithoutRules(job));
      const outcomes = (await Promise.allSettled(arriving)).map((one) => one.status === 'fulfilled' && one.value);
      expect(outcomes.filter((isStored) => isStored)).toHaveLength(calls.length);
      expect(outcomes[calls.length]).toBe(false);
      const stored = (await part()).map(({ id }) => id);
      expect(stored.sort()).toEqual(calls.map(({ id }) => id).sort());
    });

    it('stores ends while other calls begin, in opposite orders', async () => {
      const other = await store.elsewhere();
      await other.jobs.add([aCall()]);
      for (let round = 0; round < 20; round++) {
        const calls = Array.from({ length: 50 }, () => aCall());
        const ends = [...calls].reverse().map((call) => history.appendWithoutRules(ended(call)));
        await ends[0]; // which is stored alone
        await other.jobs.add(calls);
        const stored = await Promise.all(ends);
        expect(new Set(stored)).toEqual(new Set([true]));
      }
    });

    it('waits for a running change of the alert rules before it looks for rules', async () => {
      const began = gate();
      const change = repositories.unitOfWork.locked(FINISHING, async () => {
        began.open();
        await delay(50);
        await repositories.alertRules.add(aRule({ enabled: false }));
      });
      await began.opened;
      expect(await (await store.elsewhere()).jobHistory.appendWithoutRules(ended(aCall()))).toBe(false);
      await change;
      expect(await part()).toEqual([]);
    });

    it('keeps the order of the appends when several instances append under one lock', async () => {
      const instances = [repositories, await store.elsewhere()];
      await atOnce(12, (party) => {
        const { unitOfWork, jobHistory } = instances[party % 2] as Repositories;
        return unitOfWork.locked('line', async () => {
          await jobHistory.append(ended(aJob()), party % 3 > 0);
          await jobHistory.append(ended(aCall()), false);
        });
      });
      const jobs = await part();
      expect(jobs).toHaveLength(24);
      expect(jobs.map(({ kind }) => kind)).toEqual(Array(12).fill(['external', 'chat']).flat());
    });

    it('returns jobs by kind and earliest end, and only the newest up to the given number', async () => {
      const times = [at(1), at(5), at(2), at(6), at(4)];
      const jobs = await append(...times.map((time, index) => ended(index % 2 ? aCall() : aJob(), 'failed', time)));
      const [j0, c1, j2, c3, j4] = jobs.map(entryOf);
      expect(await part({ most: 2 })).toEqual([c3, j4]);
      expect(await part({ kind: 'external' })).toEqual([j0, j2, j4]);
      expect(await part({ kind: 'external', most: 2 })).toEqual([j2, j4]);
      expect(await part({ since: at(4) })).toEqual([c1, c3, j4]);
      expect(await part({ since: at(4), most: 2, kind: 'chat' })).toEqual([c1, c3]);
      expect(await part({ since: at(7) })).toEqual([]);
      expect(await part({ kind: 'prediction' })).toEqual([]);
    });

    it('returns more jobs than one query reads', async () => {
      const jobs = await append(...Array.from({ length: 1_100 }, () => ended(aCall())));
      expect((await part()).map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
      expect((await part({ most: 1_050 })).map(({ id }) => id)).toEqual(jobs.slice(50).map(({ id }) => id));
    });

    it.each(Object.entries({ '': 0, s: 0, f: 1, sff: 2, ffs: 0, fsfcfc: 2, ccc: 0 }))(
      'counts failures in a row: after %p they are %p',
      async (statuses, failures) => {
        await appendStatuses(statuses);
        expect(await history.failuresInARow(null, 100)).toBe(failures);
      },
    );

    it('counts failures in a row by kind, up to the given number', async () => {
      await appendStatuses('ffff');
      await appendStatuses('s', aCall);
      await appendStatuses('ff');
      expect(await history.failuresInARow(null, 100)).toBe(2);
      expect(await history.failuresInARow('external', 100)).toBe(6);
      expect(await history.failuresInARow('external', 4)).toBe(4);
      expect(await history.failuresInARow('chat', 100)).toBe(0);
    });

    it('counts the calls of a window, and those of them that are bad', async () => {
      const call = (status: FinalStatus, end: number, over: Partial<Job> = {}) => ended(aCall(over), status, at(end));
      await append(
        call('failed', 1),
        call('failed', 2),
        call('succeeded', 3, { createdAt: at(1) }),
        call('succeeded', 4, { kind: 'prediction', createdAt: at(1) }),
        call('cancelled', 4),
        ended(aJob(), 'failed', at(4)),
      );
      await repositories.jobs.add([aCall()]);
      const window = { after: at(1), kind: null, slowerThan: null };
      const counts = await history.counts([
        window,
        { ...window, slowerThan: 2 },
        { ...window, slowerThan: 1.999 },
        { ...window, kind: 'prediction' },
        { ...window, after: at(4) },
        { ...window, after: at(0) },
      ]);
      expect(counts).toEqual([
        { calls: 3, bad: 1 },
        { calls: 3, bad: 1 },
        { calls: 3, bad: 3 },
        { calls: 1, bad: 0 },
        { calls: 0, bad: 0 },
        { calls: 4, bad: 2 },
      ]);
      expect(await history.counts([])).toEqual([]);
    });

    it('removes old calls that are rolled up, at most the given number at a time', async () => {
      const calls = await append(...[3, 1, 2, 8].map((time) => ended(aCall(), 'failed', at(time))));
      const [job] = await append(ended(aJob(), 'failed', at(0)));
      await repositories.jobs.add([aCall()]);
      await history.forgetCalls(at(5), 2);
      expect(await part()).toHaveLength(5); // no call is rolled up yet
      await new UsageRollUp(repositories.usage, repositories.unitOfWork, new ManualClock(at(9))).execute();
      await history.forgetCalls(at(5), 2);
      expect((await part()).map(({ id }) => id)).toEqual([calls[0]?.id, calls[3]?.id, job?.id]);
      await history.forgetCalls(at(5), 2);
      expect((await part()).map(({ id }) => id)).toEqual([calls[3]?.id, job?.id]);
      const every = { teamId: null, status: null, kind: null, projectId: null };
      expect(await repositories.jobs.list(every, { limit: 10, after: null })).toHaveLength(3);
    });
  });
}
