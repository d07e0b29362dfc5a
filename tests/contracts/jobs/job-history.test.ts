import { createDataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmJobHistory } from '../../../src/infrastructure/typeorm/jobs/typeorm-job-history.js';
import { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { aCall, ended } from '../../support/records.js';
import { jobHistoryContract } from './job-history.contract.js';

jobHistoryContract('memory', memoryUnderTest());
jobHistoryContract('PostgreSQL', postgresUnderTest());

describe('A database that is stricter by default', () => {
  const store = postgresUnderTest();

  it('has no call appended by a statement that may see rules of the past', async () => {
    const url = new URL(store.url);
    url.searchParams.set('options', '-c default_transaction_isolation=serializable');
    const source = await createDataSource(url.href).initialize();
    const history = new TypeOrmJobHistory(new TypeOrmUnitOfWork(source));
    expect(await history.appendUnnoticed('line', [ended(aCall())])).toEqual([]);
    await source.destroy();
  });
});
