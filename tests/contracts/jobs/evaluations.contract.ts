import { Job } from '../../../src/domain/jobs/job.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { anEvaluation, aResult, at, ended, ids } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

export function evaluationsContract(adapter: string, store: StoreUnderTest) {
  describe(`Evaluations in ${adapter}`, () => {
    let stock: StockedStore;
    let evaluations: StockedStore['evaluations'];
    let project: Project;
    beforeEach(async () => {
      stock = await stocked(store);
      ({ evaluations, project } = stock);
    });

    const add = async (over: Parameters<typeof anEvaluation>[1] = {}) => {
      const evaluation = anEvaluation(project, over);
      await evaluations.add(evaluation);
      return evaluation;
    };

    it('returns an evaluation exactly as it was added', async () => {
      const evaluation = await add({ systemPrompt: 'Be brief.', metric: 'numeric', tolerance: 0.5 });
      expect(await evaluations.find(evaluation.jobId)).toEqual(evaluation);
      expect(await evaluations.find(ids.next('job'))).toBe(null);
    });

    it('removes evaluations and results with their project, and adds none to a removed project', async () => {
      const evaluation = await add();
      const run = (await evaluations.begin(evaluation.jobId)) as number;
      await evaluations.keep(evaluation.jobId, run, aResult(1));
      await stock.projects.remove(project);
      expect(await evaluations.find(evaluation.jobId)).toBe(null);
      expect(await evaluations.begin(evaluation.jobId)).toBe(null);
      expect(await evaluations.keep(evaluation.jobId, run, aResult(2))).toBe(false);
      expect(await evaluations.scored(evaluation.jobId)).toEqual([]);
      await expect(evaluations.add(anEvaluation(project))).rejects.toMatchObject({ code: 'not_found' });
    });

    it('returns results exactly as they were stored, ordered by position', async () => {
      const { jobId } = await add();
      const run = (await evaluations.begin(jobId)) as number;
      const odd = { input: { a: [1, null] }, expected: null, output: 'a "b" \u2028', group: 'g', latency: 1.5 };
      const results = [
        aResult(1, odd),
        aResult(2, { input: 'true', expected: '3', score: 0 }),
        aResult(10, { input: 3, expected: false, output: null, tokens: null, error: 'too long', score: 0 }),
      ];
      for (const result of [...results].reverse()) expect(await evaluations.keep(jobId, run, result)).toBe(true);
      expect(await evaluations.results(jobId, { limit: 9, after: null })).toEqual(results);
      expect(await evaluations.results(jobId, { limit: 1, after: 1 })).toEqual([results[1]]);
      const sizes = await evaluations.resultSizes(jobId, { limit: 9, after: 1 });
      expect(sizes.map(({ id }) => id)).toEqual(['2', '10']);
      const scored = results.map(({ input: _, expected: __, output: ___, ...rest }) => rest);
      expect(await evaluations.scored(jobId)).toEqual(scored);
      expect(await evaluations.results((await add()).jobId, { limit: 9, after: null })).toEqual([]);
    });

    it('finds the records that two evaluations answered differently', async () => {
      const scoredWith = async (outputs: readonly (string | null)[]) => {
        const { jobId } = await add();
        const run = (await evaluations.begin(jobId)) as number;
        for (const [index, output] of outputs.entries())
          await evaluations.keep(jobId, run, aResult(index + 1, { output }));
        return jobId;
      };
      const one = await scoredWith(['a', 'b', null, null, 'e', 'f']);
      const other = await scoredWith(['A', 'b', null, 'd', null]);
      expect(await evaluations.differing(one, other)).toEqual([1, 4, 5]);
      expect(await evaluations.differing(other, one)).toEqual([1, 4, 5]);
      expect(await evaluations.differing(one, one)).toEqual([]);
      expect(await evaluations.differing(one, ids.next('job'))).toEqual([]);
    });

    it('stores results of the latest run only', async () => {
      const { jobId } = await add();
      const first = (await evaluations.begin(jobId)) as number;
      expect(await evaluations.keep(jobId, first, aResult(1))).toBe(true);
      const second = (await evaluations.begin(jobId)) as number;
      expect(await evaluations.keep(jobId, first, aResult(2))).toBe(false);
      expect(await evaluations.keep(jobId, second, aResult(2))).toBe(true);
      expect(await stock.unitOfWork.run(() => evaluations.latestRun(jobId))).toBe(second);
      expect(await stock.unitOfWork.run(() => evaluations.latestRun(ids.next('job')))).toBe(null);
      expect((await evaluations.scored(jobId)).map(({ position }) => position)).toEqual([1, 2]);
    });

    it('finds the newest succeeded evaluation of a dataset', async () => {
      const datasetId = ids.next('dst');
      const own = { datasetId, projectId: project.id };
      expect(await evaluations.latest(project.id, datasetId)).toBe(null);
      const kept = [];
      for (const status of ['succeeded', 'succeeded', 'failed', null] as const) {
        const evaluation = await add(own);
        const job = Job.evaluation({
          id: evaluation.jobId,
          teamId: 't',
          projectId: project.id,
          requestedBy: 'u',
          createdAt: at(0),
          name: null,
          datasetId,
          modelId: null,
          progress: { done: 0, total: 1 },
        });
        await stock.jobs.add([job]);
        if (status) await stock.jobHistory.append(ended(job, status), true);
        kept.push(evaluation);
      }
      await add();
      expect(await evaluations.latest(project.id, datasetId)).toEqual(kept[1]);
      expect(await evaluations.latest(ids.next('prj'), datasetId)).toBe(null);
    });
  });
}
