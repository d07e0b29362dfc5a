import { createDataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { migrate } from '../../../src/infrastructure/typeorm/migrate.js';
import { TypeOrmStorageProbe } from '../../../src/infrastructure/typeorm/operations/operations.js';
import { MemoryStorageProbe } from '../../fakes/operations/memory-storage-probe.js';
import { CutOffProxy } from '../../support/cut-off-proxy.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { storageContract } from './storage.contract.js';

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

storageContract('memory', ['switched off'], async () => {
  const storage = new MemoryStorageProbe();
  const off = {
    begin: () => {
      storage.available = false;
    },
    end: () => {
      storage.available = true;
    },
  };
  return { storage, troubles: { 'switched off': off } };
});

describe('on a database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.drop());

  storageContract('PostgreSQL', ['connections break', 'connections fall silent'], async () => {
    const proxy = await CutOffProxy.before(database.url);
    const source = await createDataSource(proxy.url).initialize();
    ending.push(
      () => proxy.close(),
      () => source.destroy(),
    );
    const end = () => proxy.reopen();
    const troubles = {
      'connections break': { begin: () => proxy.cut(), end },
      'connections fall silent': { begin: () => proxy.silence(), end },
    };
    return { storage: new TypeOrmStorageProbe(source), troubles };
  });
});

describe('Storage of PostgreSQL', () => {
  it('is not there before the migrations are done', async () => {
    const database = await freshDatabase({ migrated: false });
    const source = await createDataSource(database.url).initialize();
    ending.push(
      () => database.drop(),
      () => source.destroy(),
    );
    const storage = new TypeOrmStorageProbe(source);
    await expect(storage.check()).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('not up to date'),
    });
    await migrate(database.url);
    await expect(storage.check()).resolves.toBeUndefined();
  });
});
