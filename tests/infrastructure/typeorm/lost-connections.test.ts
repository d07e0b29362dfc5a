import { StorageUnavailable } from '../../../src/domain/shared/errors.js';
import { createDataSource, type DataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { asStorageUnavailable } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { poolOf, TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { CutOffProxy } from '../../support/cut-off-proxy.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { until } from '../../support/until.js';

describe('a pool with connections that break or fall silent', () => {
  let database: TestDatabase;
  let proxy: CutOffProxy;
  let source: DataSource;
  beforeAll(async () => {
    database = await freshDatabase({ migrated: false });
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    proxy = await CutOffProxy.before(database.url);
    const url = new URL(proxy.url);
    url.searchParams.set('query_timeout', '500');
    source = await createDataSource(url.href).initialize();
  });
  afterEach(async () => {
    await proxy.close();
    await source.destroy();
  });

  it('waits once for a silent connection, also in a transaction, and drops it', async () => {
    const unitOfWork = new TypeOrmUnitOfWork(source);
    const begun = performance.now();
    const failure = await unitOfWork
      .run(async () => {
        await unitOfWork.query('SELECT');
        proxy.silence();
        proxy.reopen();
        await unitOfWork.query('SELECT');
      })
      .catch(asStorageUnavailable);
    expect(failure).toBeInstanceOf(StorageUnavailable);
    expect(performance.now() - begun).toBeLessThan(1_000);
    await unitOfWork.query('SELECT');
    await unitOfWork.prepared('once more', 'SELECT', []);
    expect(poolOf(source).totalCount).toBe(1);
  });

  it.each(['ordinary', 'often-run'])(
    'reports a connection that broke in a transaction as StorageUnavailable, to an %s statement',
    async (kind) => {
      const unitOfWork = new TypeOrmUnitOfWork(source);
      const failure = await unitOfWork
        .run(async () => {
          proxy.cut();
          await until('the pool has dropped the connection', () => poolOf(source).totalCount === 0);
          proxy.reopen();
          await (kind === 'often-run' ? unitOfWork.prepared('nothing', 'SELECT', []) : unitOfWork.query('SELECT'));
        })
        .catch(asStorageUnavailable);
      expect(failure).toBeInstanceOf(StorageUnavailable);
      expect(poolOf(source).totalCount).toBe(0);
    },
  );

  it('reports a broken connection as StorageUnavailable', async () => {
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    proxy.cut();
    const failure = await runner.commitTransaction().catch(asStorageUnavailable);
    expect(failure).toBeInstanceOf(StorageUnavailable);
    await runner.release();
  });
});
