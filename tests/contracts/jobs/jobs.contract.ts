import type { JobFilter } from '../../../src/application/jobs/ports.js';
import type { Job } from '../../../src/domain/jobs/job.js';
import { atOnce } from '../../support/barrier.js';
import { aCall, aJob, at, ended, ids } from '../../support/records.js';
import { expectPages, type Repositories, type StoreUnderTest } from '../../support/repositories.js';

const any: JobFilter = { teamId: null, status: null, kind: null, projectId: null };
const all = { limit: 1_000, after: null };

export function jobsContract(adapter: string, store: StoreUnderTest) {
  describe(`Jobs in ${adapter}`, () => {
    let repositories: Repositories;
    let jobs: Repositories['jobs'];

    beforeEach(async () => {
      repositories = await store.open();
      ({ jobs } = repositories);
    });

    const add = async (over: Partial<Job> = {}, create = aJob) => {
      const job = create(over);
      await jobs.add([job]);
      return job;
    };
    const finished = async (job: Job) => {
      const end = ended(job);
      await repositories.unitOfWork.locked('line', () => repositories.jobHistory.append(end, true));
      return end;
    };
    const held = (id: string) => repositories.unitOfWork.run(() => jobs.hold(id));

    it('returns a job exactly as it was added', async () => {
      const overs: Partial<Job>[] = [
        { status: 'queued', startedAt: null, progress: { done: 2, total: 5 } },
        { teamId: null, requestedBy: 'master', projectId: null, name: null },
        { result: { a: [1, 'ä', null, { b: false }], '': 1e-7 } },
        { result: '"; DROP \\ \u{1F986} \n' },
        { result: false },
        { result: 0, error: 'it failed\nbadly' },
        { result: [], datasetId: 'dst_1', modelId: 'mdl_1', projectId: 'prj_1' },
      ];
      const elsewhere = (await store.elsewhere()).jobs;
      for (const over of overs) {
        const job = await add(over);
        expect(await jobs.find(job.id)).toEqual(job);
        expect(await elsewhere.find(job.id)).toEqual(job);
      }
    });

    it('adds several jobs and does not change stored ones', async () => {
      const [there, other] = [await add(), aCall()];
      await jobs.add([other, { ...there, name: 'another' }]);
      expect(await jobs.find(there.id)).toEqual(there);
      expect(await jobs.find(other.id)).toEqual(other);
      const end = await finished(other);
      await jobs.add([other]);
      expect(await jobs.find(other.id)).toEqual(end);
    });

    it('lists jobs by team, status, kind and project, newest first, in pages', async () => {
      const chat = await add({ teamId: 'tea_2' }, aCall);
      const queued = await add({ status: 'queued', startedAt: null });
      const mine = await add({ projectId: 'prj_1' });
      const masters = await finished(await add({ teamId: null }));
      const nothing = { projectId: 'prj_1', kind: 'external', status: 'queued' } as const;
      for (const [filter, listed] of [
        [{}, [masters, mine, queued, chat]],
        [{ teamId: 'tea_1' }, [mine, queued]],
        [{ status: 'running' }, [mine, chat]],
        [{ status: 'succeeded' }, [masters]],
        [{ kind: 'chat' }, [chat]],
        [{ projectId: 'prj_1' }, [mine, chat]],
        [{ ...nothing, status: 'running', teamId: 'tea_1' }, [mine]],
        [nothing, []],
      ] as [Partial<JobFilter>, Job[]][])
        await expectPages(
          (page) => jobs.list({ ...any, ...filter }, page),
          listed,
          (page) => jobs.sizes({ ...any, ...filter }, page),
        );
    });

    it('finds the jobs of a team, or of the master key, by a part of their name in either case', async () => {
      const nightly = await add({ name: 'Nightly ÜBUNG (50%)', teamId: 'tea_1' });
      const weekly = await add({ name: 'weekly übung [a-z]', teamId: 'tea_1', projectId: 'prj_1' });
      const others = await add({ name: 'nightly', teamId: 'tea_2' });
      const masters = await add({ name: 'nightly', teamId: null });
      await add({ name: null, teamId: 'tea_1' }, aCall);
      const found = (part: string, filter: Partial<JobFilter> = {}, teamId: string | null = 'tea_1') =>
        jobs.list({ ...any, ...filter, named: { teamId, part } }, { limit: 9, after: null });
      expect(await found('Übung')).toEqual([weekly, nightly]);
      expect(await found('NIGHT')).toEqual([nightly]);
      expect(await found('y ü', { projectId: 'prj_1' })).toEqual([weekly]);
      expect(await found('night', {}, 'tea_2')).toEqual([others]);
      expect(await found('night', {}, null)).toEqual([masters]);
      expect(await found('night', { status: 'queued' })).toEqual([]);
      for (const [part, job] of [
        ['(50%)', nightly],
        ['[a-z]', weekly],
      ] as const)
        expect(await found(part)).toEqual([job]);
      for (const part of ['.', '%', '^', '\\\\', '***', 'n.g'])
        expect(await found(part)).toEqual(part === '%' ? [nightly] : []);
      await expectPages(
        (page) => jobs.list({ ...any, named: { teamId: 'tea_1', part: 'ü' } }, page),
        [weekly, nightly],
        (page) => jobs.sizes({ ...any, named: { teamId: 'tea_1', part: 'ü' } }, page),
      );
    });

    it('updates an unfinished job, but no finished or unknown one', async () => {
      const [job, other] = [await add(), await add()];
      const next: Job = { ...job, progress: { done: 1, total: 2 }, result: 'half', error: 'e', startedAt: at(2) };
      expect(await jobs.update(next)).toBe(true);
      expect(await jobs.find(job.id)).toEqual(next);
      expect(await jobs.find(other.id)).toEqual(other);
      expect(await jobs.update(aJob())).toBe(false);
      const end = await finished(next);
      expect(await jobs.update(job)).toBe(false);
      expect(await jobs.find(job.id)).toEqual(end);
    });

    it('returns a held job, and null for an unknown one', async () => {
      const [job, end] = [await add(), await finished(await add())];
      expect(await held(job.id)).toEqual(job);
      expect(await held(end.id)).toEqual(end);
      expect(await held(ids.next('job'))).toBeNull();
    });

    it('lets nobody else change a held job', async () => {
      const job = await add();
      const count = (instance: Repositories) =>
        instance.unitOfWork.run(async () => {
          const held = (await instance.jobs.hold(job.id)) as Job;
          const { done, total } = held.progress;
          await instance.jobs.update({ ...held, progress: { done: done + 1, total } });
        });
      const instances = [repositories, await store.elsewhere()];
      await atOnce(8, (party) => count(instances[party % 2] as Repositories));
      expect((await jobs.find(job.id))?.progress.done).toBe(8);
    });

    it('withdraws unfinished jobs only', async () => {
      const [gone, end, stays] = [await add({}, aCall), await finished(await add({}, aCall)), await add({}, aCall)];
      await jobs.withdraw([gone.id, end.id, ids.next('job')]);
      expect(await jobs.find(gone.id)).toBeNull();
      expect(await jobs.list(any, all)).toEqual([stays, end]);
    });

    it('returns the instances that have unfinished jobs', async () => {
      const [first, second] = [await add({ instance: 7 }, aCall), await add({ instance: 7 }, aCall)];
      await add({ instance: 8 }, aCall);
      await finished(await add({ instance: 9 }, aCall));
      await add();
      expect((await jobs.instances()).sort()).toEqual([7, 8]);
      expect(await jobs.ofInstance(7, 10)).toEqual([first.id, second.id]);
      expect(await jobs.ofInstance(7, 1)).toEqual([first.id]);
      expect(await jobs.ofInstance(9, 10)).toEqual([]);
    });
  });
}
