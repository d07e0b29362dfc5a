import { query } from '../../support/database.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { oneAtATimeContract } from './one-at-a-time.contract.js';

oneAtATimeContract('memory', memoryUnderTest());
oneAtATimeContract('PostgreSQL', postgresUnderTest());

describe('OneAtATime of PostgreSQL', () => {
  const store = postgresUnderTest();

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
