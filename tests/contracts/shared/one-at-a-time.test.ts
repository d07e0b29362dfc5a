import type { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { barrier } from '../../support/barrier.js';
import { query } from '../../support/database.js';
import { jobsRig } from '../../support/jobs-rig.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { aJob, aRule } from '../../support/records.js';
import { oneAtATimeContract } from './one-at-a-time.contract.js';

const store = postgresUnderTest();
oneAtATimeContract('memory', memoryUnderTest());
oneAtATimeContract('PostgreSQL', store);

describe('OneAtATime of PostgreSQL', () => {
  it('takes the turn from who stops in the midst of it', async () => {
    const [here, elsewhere] = [await store.open(), await store.elsewhere()];
    let entered = () => {};
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    let goOn = () => {};
    const stuck = here.oneAtATime.run('line', async () => {
      entered();
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      return here.jobs.processes();
    });
    stuck.catch(() => undefined);
    await inside;
    await elsewhere.oneAtATime.run('line', async () => undefined);
    goOn();
    await expect(stuck).rejects.toThrow();
    expect(await query(store.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

/** The races of `tests/e2e/alert-processes.test.ts` are worth their name only if they can be lost. */
describe('without one at a time', () => {
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
        process.changeJob.execute({
          by: { kind: 'master' },
          id: (jobs[index] as (typeof jobs)[0]).id,
          status: 'failed',
        }),
      ),
    );
    expect(await processes[0]?.allAlerts()).toHaveLength(2);
    expect(await processes[0]?.alertRules.find(rule.id)).toMatchObject({ failuresInARow: 1 });
  });
});
