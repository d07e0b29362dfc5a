import { StorageUnavailable } from '../../../src/domain/shared/errors.js';
import { createDataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { migrate } from '../../../src/infrastructure/typeorm/migrate.js';
import { TypeOrmStorageProbe } from '../../../src/infrastructure/typeorm/operations/operations.js';
import { atOnce } from '../../support/barrier.js';
import { CutOffProxy } from '../../support/cut-off-proxy.js';
import { freshDatabase, query } from '../../support/database.js';
import { within } from '../../support/until.js';

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

const postgres = (trouble: 'cut' | 'silence') => async () => {
  const database = await freshDatabase();
  const proxy = await CutOffProxy.before(database.url);
  const source = await createDataSource(proxy.url).initialize();
  ending.push(
    () => source.destroy(),
    () => proxy.close(),
    () => database.drop(),
  );
  return { probe: new TypeOrmStorageProbe(source), begin: () => proxy[trouble](), end: () => proxy.reopen() };
};

describe.each([
  ['PostgreSQL, when its connections break,', postgres('cut')],
  ['PostgreSQL, when it stops answering,', postgres('silence')],
])('StorageProbe of %s', (_, open) => {
  it('reports within seconds that the database does not answer, and that it answers again', async () => {
    const { probe, begin, end } = await open();
    // More checks at once than there can be connections. No connection may get lost.
    const checks = () => atOnce(20, () => probe.check().catch((error: unknown) => error));
    expect(new Set(await checks())).toEqual(new Set([undefined]));
    begin();
    let outcomes: unknown[] = [];
    const checked = async () => {
      outcomes = await checks();
    };
    expect(await within(8_000, checked)).toBe(true);
    expect(outcomes).toHaveLength(20);
    for (const outcome of outcomes) expect(outcome).toBeInstanceOf(StorageUnavailable);
    end();
    await expect(probe.check()).resolves.toBeUndefined();
  });
});

describe('StorageProbe of PostgreSQL', () => {
  it('throws before the migrations are done', async () => {
    const database = await freshDatabase({ migrated: false });
    const source = await createDataSource(database.url).initialize();
    ending.push(
      () => source.destroy(),
      () => database.drop(),
    );
    const storage = new TypeOrmStorageProbe(source);
    await expect(storage.check()).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('not up to date'),
    });
    await migrate(database.url);
    await expect(storage.check()).resolves.toBeUndefined();
  });

  it('throws when a newer version has changed the tables, and so does a start of this version', async () => {
    const database = await freshDatabase();
    const source = await createDataSource(database.url).initialize();
    ending.push(
      () => source.destroy(),
      () => database.drop(),
    );
    await query(database.url, "INSERT INTO migrations (timestamp, name) VALUES (9e12, 'Later9000000000000')");
    const refusal = { code: 'instance_outdated', message: expect.stringContaining('Later9000000000000') };
    await expect(new TypeOrmStorageProbe(source).check()).rejects.toMatchObject(refusal);
    await expect(migrate(database.url)).rejects.toMatchObject(refusal);
  });
});
