import { instanceLimits, type NumberedReport } from '../../../src/application/operations/ports.js';
import { atOnce } from '../../support/barrier.js';
import { aReport } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function instanceReportsContract(adapter: string, store: StoreUnderTest) {
  describe(`InstanceReports in ${adapter}`, () => {
    let here: Repositories['instanceReports'];
    let elsewhere: Repositories['instanceReports'];
    beforeEach(async () => {
      here = (await store.open()).instanceReports;
      elsewhere = (await store.elsewhere()).instanceReports;
    });

    it('returns the last report of each instance to all instances, the oldest instance first', async () => {
      const runtimes: NumberedReport['runtimes'] = [
        { projectId: 'prj_1', modelId: 'mdl_1', state: 'loading', waiting: 3 },
      ];
      const deployments: NumberedReport['deployments'] = [{ id: 'dep_1', status: 'crash_looping' }];
      const memoryBytes = 64 * 1024 ** 3; // more than an integer of PostgreSQL holds
      const first = aReport({ number: 1, state: 'starting' });
      const second = aReport({ number: 2, runtimes, deployments, waitingCalls: 3, memoryBytes });
      await elsewhere.save(second);
      await here.save(first);
      for (const one of [here, elsewhere]) expect(await one.living(null)).toEqual([first, second]);
      const later = { ...first, state: 'draining', version: '9.9.9' } as const;
      await here.save(later);
      expect(await elsewhere.living(null)).toEqual([later, second]);
      expect([...(await elsewhere.numbers())].sort()).toEqual([1, 2]);
    });

    it('returns the runtimes of the named projects, however many others are reported before them', async () => {
      const one = (project: number, model = 'mdl_1') =>
        ({ projectId: `prj_${project}`, modelId: model, state: 'ready', waiting: project }) as const;
      const most = instanceLimits.listed;
      const many = Array.from({ length: instanceLimits.reported - 3 }, (_, n) => one(n));
      const own = [one(20_001, 'mdl_2'), one(20_001), one(20_000)];
      await here.save(aReport({ number: 1, runtimes: [...many, ...own] }));
      await here.save(aReport({ number: 2, runtimes: own.slice(2) }));
      const seen = async (projects: readonly string[] | null) =>
        (await elsewhere.living(projects)).map(({ runtimes }) => runtimes);
      expect(await seen(['prj_20000', 'prj_20001', 'prj_20001', 'prj_other'])).toEqual([own, own.slice(2)]);
      expect(await seen([])).toEqual([[], []]);
      expect(await seen(null)).toEqual([many.slice(0, most), own.slice(2)]);
      expect(await seen(many.map(({ projectId }) => projectId))).toEqual([many.slice(0, most), []]);
    });

    it('removes the report of one instance, also if there is none', async () => {
      const [first, second] = [aReport({ number: 1 }), aReport({ number: 2 })];
      for (const one of [first, second]) await here.save(one);
      for (let time = 0; time < 2; time++) await elsewhere.remove(1);
      expect(await here.living(null)).toEqual([second]);
      expect(await here.numbers()).toEqual([2]);
      await here.save(first); // it was taken for dead, but lives
      expect(await here.living(null)).toEqual([first, second]);
    });

    it('keeps one report of an instance that reports twice at once', async () => {
      await atOnce(8, (party) => (party % 2 ? here : elsewhere).save(aReport({ number: 7 })));
      expect(await here.living(null)).toEqual([aReport({ number: 7 })]);
    });

    it('lists a limited number of instances', async () => {
      const most = instanceLimits.instances;
      for (let number = 1; number <= most + 1; number++) await here.save(aReport({ number }));
      expect((await here.living(null)).map(({ number }) => number)).toEqual(
        Array.from({ length: most }, (_, n) => n + 1),
      );
      expect(await here.numbers()).toHaveLength(most + 1);
    });
  });
}
