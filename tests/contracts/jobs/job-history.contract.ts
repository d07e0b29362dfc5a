import { setTimeout as pause } from 'node:timers/promises';
import type { HistoryPart } from '../../../src/application/jobs/ports.js';
import type { AlertRule } from '../../../src/domain/alerts/alert-rule.js';
import type { FinalStatus, FinishedJob, Job } from '../../../src/domain/jobs/job.js';
import { atOnce } from '../../support/barrier.js';
import { aCall, aJob, aRule, at, ended } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function jobHistoryContract(adapter: string, store: StoreUnderTest) {
  describe(`JobHistory kept by ${adapter}`, () => {
    let repositories: Repositories;
    let history: Repositories['jobHistory'];

    beforeEach(async () => {
      repositories = await store.open();
      history = repositories.jobHistory;
    });

    const append = (...jobs: (Job & FinishedJob)[]) =>
      repositories.oneAtATime.run('line', () => history.append(jobs)).then(() => jobs);
    const part = async (which: Partial<HistoryPart> = {}) => {
      const jobs: FinishedJob[] = [];
      for await (const job of history.part({ kind: null, since: null, most: 10_000, ...which })) jobs.push(job);
      return jobs;
    };
    const seen = ({ id, kind, status, startedAt, finishedAt }: FinishedJob) => ({
      id,
      kind,
      status,
      startedAt,
      finishedAt,
    });
    const told = (statuses: string, of: () => Job = aJob) => {
      const meaning: Record<string, FinalStatus> = { f: 'failed', s: 'succeeded', c: 'cancelled' };
      return append(...[...statuses].map((letter) => ended(of(), meaning[letter])));
    };

    it('writes what was there before and what was not, as it has finished', async () => {
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

    it('keeps the order in which they were appended, whatever their ids and times', async () => {
      const [a, b, c, d] = [aJob(), aCall(), aJob(), aJob()];
      await repositories.jobs.add([d]);
      const order = [ended(d, 'succeeded', at(9)), ended(b, 'failed', at(3))];
      await append(...order);
      await append(ended(c, 'cancelled', at(1)));
      await append(ended(a, 'failed', at(2)));
      expect(await part()).toEqual([
        ...order.map(seen),
        seen(ended(c, 'cancelled', at(1))),
        seen(ended(a, 'failed', at(2))),
      ]);
    });

    it('is in one order, whoever appends', async () => {
      const processes = [repositories, await store.elsewhere()];
      await atOnce(12, (party) => {
        const { oneAtATime, jobHistory } = processes[party % 2] as Repositories;
        return oneAtATime.run('line', () => jobHistory.append([ended(aJob()), ended(aCall())]));
      });
      const jobs = await part();
      expect(jobs).toHaveLength(24);
      expect(jobs.map(({ kind }) => kind)).toEqual(Array(12).fill(['external', 'chat']).flat());
    });

    describe('appendUnnoticed', () => {
      const unnoticed = (...calls: (Job & FinishedJob)[]) => history.appendUnnoticed('line', calls);
      const [over, failed] = [() => ended(aCall()), () => ended(aCall(), 'failed')];

      it('writes calls as they have finished, behind all that finished earlier', async () => {
        const [first] = await append(ended(aJob(), 'failed'));
        const there = aCall();
        await repositories.jobs.add([there]);
        const calls = [over(), failed(), ended(there, 'cancelled', at(5))];
        expect((await unnoticed(...calls)).sort()).toEqual(calls.map(({ id }) => id).sort());
        const [last] = await append(over());
        expect(await part()).toEqual([first, ...calls, last].map((job) => seen(job as FinishedJob)));
        expect(await (await store.elsewhere()).jobs.find(there.id)).toEqual(calls[2]);
      });

      it.each<[string, Partial<AlertRule>, () => Job & FinishedJob]>([
        ['a failure', {}, failed],
        ['a failure of the kind', { jobKind: 'chat' }, failed],
        ['a failure, though it is switched off', { enabled: false }, failed],
        ['a success after a failure', { failuresInARow: 1 }, over],
        ['a success after it has fired', { failuresInARow: 3, firedInRun: true }, over],
        ['a call that took too long', { ruleType: 'job_duration_exceeded', threshold: 0.999 }, over],
      ])('writes nothing where a rule takes notice of %s', async (_, rule, made) => {
        await repositories.alertRules.add(aRule(rule));
        const [call, other] = [made(), ended(aCall(), 'cancelled', at(0))];
        expect(await unnoticed(other, call)).toEqual([]);
        expect(await part()).toEqual([]);
        expect(await unnoticed(other)).toEqual([other.id]);
      });

      it.each<[string, Partial<AlertRule>, () => Job & FinishedJob]>([
        ['a failure of another kind', { jobKind: 'external', failuresInARow: 1 }, failed],
        ['a success after another', { failuresInARow: 0 }, over],
        ['a call that was given up', { failuresInARow: 2 }, () => ended(aCall(), 'cancelled')],
        ['a call that took just as long', { ruleType: 'job_duration_exceeded', threshold: 1 }, over],
        ['a long call, where it is switched off', { ruleType: 'job_duration_exceeded', enabled: false }, over],
      ])('writes where no rule takes notice of %s', async (_, rule, made) => {
        await repositories.alertRules.add(aRule({ threshold: 0.5, ...rule }));
        const call = made();
        expect(await unnoticed(call)).toEqual([call.id]);
        expect(await part()).toEqual([seen(call)]);
      });

      it('writes none that has finished before', async () => {
        const [first] = (await append(failed())) as [Job & FinishedJob];
        const other = over();
        expect(await unnoticed(ended({ ...first, finishedAt: null }), other)).toEqual([other.id]);
        expect(await part()).toEqual([seen(first), seen(other)]);
      });

      it('waits for its turn in the line, and sees all that was written before', async () => {
        const { oneAtATime, alertRules } = await store.elsewhere();
        const gates: Record<string, () => void> = {};
        const gate = (name: string) => new Promise<void>((open) => Object.assign(gates, { [name]: open }));
        const [begun, leave] = [gate('begun'), gate('leave')];
        const turn = oneAtATime.run('line', async () => {
          gates.begun?.();
          await leave;
          await alertRules.add(aRule());
        });
        await begun;
        const written = unnoticed(failed());
        await pause(50); // for it to come to where it has to wait
        gates.leave?.();
        await turn;
        expect(await written).toEqual([]);
      });

      it('has its calls in one order with all others, whoever writes', async () => {
        const processes = [repositories, await store.elsewhere()];
        await atOnce<unknown>(12, (party) => {
          const { oneAtATime, jobHistory } = processes[party % 2] as Repositories;
          const jobs = [over(), failed()];
          return party % 3
            ? jobHistory.appendUnnoticed('line', jobs)
            : oneAtATime.run('line', () => jobHistory.append(jobs));
        });
        expect((await part()).map(({ status }) => status)).toEqual(Array(12).fill(['succeeded', 'failed']).flat());
      });
    });

    it('gives the newest of a kind, since a moment, at most so many', async () => {
      const times = [at(1), at(5), at(2), at(6), at(4)];
      const jobs = await append(...times.map((time, index) => ended(index % 2 ? aCall() : aJob(), 'failed', time)));
      const [j0, c1, j2, c3, j4] = jobs.map(seen);
      expect(await part({ most: 2 })).toEqual([c3, j4]);
      expect(await part({ kind: 'external' })).toEqual([j0, j2, j4]);
      expect(await part({ kind: 'external', most: 2 })).toEqual([j2, j4]);
      expect(await part({ since: at(4) })).toEqual([c1, c3, j4]);
      expect(await part({ since: at(4), most: 2, kind: 'chat' })).toEqual([c1, c3]);
      expect(await part({ since: at(7) })).toEqual([]);
      expect(await part({ kind: 'prediction' })).toEqual([]);
    });

    it('gives more than fit into one piece', async () => {
      const jobs = await append(...Array.from({ length: 2_500 }, () => ended(aCall())));
      expect((await part()).map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
      expect((await part({ most: 2_000 })).map(({ id }) => id)).toEqual(jobs.slice(500).map(({ id }) => id));
    });

    it.each([
      ['', 0],
      ['s', 0],
      ['f', 1],
      ['sff', 2],
      ['ffs', 0],
      ['fsfcfc', 2],
      ['ccc', 0],
    ])('after %p %p have failed in a row', async (statuses, failures) => {
      await told(statuses);
      expect(await history.failuresInARow(null, 100)).toBe(failures);
    });

    it('counts failures in a row by kind, up to as many as asked for', async () => {
      await told('ffff');
      await told('s', aCall);
      await told('ff');
      expect(await history.failuresInARow(null, 100)).toBe(2);
      expect(await history.failuresInARow('external', 100)).toBe(6);
      expect(await history.failuresInARow('external', 4)).toBe(4);
      expect(await history.failuresInARow('chat', 100)).toBe(0);
    });

    it('forgets old calls, some at a time', async () => {
      const calls = await append(...[3, 1, 2, 8].map((time) => ended(aCall(), 'failed', at(time))));
      const [job] = await append(ended(aJob(), 'failed', at(0)));
      await repositories.jobs.add([aCall()]);
      await history.forgetCalls(at(5), 2);
      expect((await part()).map(({ id }) => id)).toEqual([calls[0]?.id, calls[3]?.id, job?.id]);
      await history.forgetCalls(at(5), 2);
      expect((await part()).map(({ id }) => id)).toEqual([calls[3]?.id, job?.id]);
      const every = { teamId: null, status: null, kind: null, projectId: null };
      expect(await repositories.jobs.list(every, { limit: 10, after: null })).toHaveLength(3);
    });
  });
}
