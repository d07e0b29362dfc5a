import { type ClientConfig, Pool, type PoolClient } from 'pg';
import { StorageUnavailable } from '../../../src/domain/operations/errors.js';
import { createDataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { Patience } from '../../../src/infrastructure/typeorm/patience.js';
import { boundConnecting, Lines } from '../../../src/infrastructure/typeorm/pool-care.js';
import { asStorageUnavailable } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { TimelyClient } from '../../../src/infrastructure/typeorm/timely-client.js';
import { CutOffProxy } from '../../support/cut-off-proxy.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { until } from '../../support/until.js';

/** No statement has a limit of its own here: what nobody looked into would be waited for without end. */
describe('a pool whose connections may fall silent', () => {
  let database: TestDatabase;
  let proxy: CutOffProxy;
  let pool: Pool;
  beforeAll(async () => {
    database = await freshDatabase({ migrated: false });
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    proxy = await CutOffProxy.before(database.url);
  });
  afterEach(async () => {
    await proxy.close();
    await pool.end();
  });

  const pooled = (doubtMs: number, more: object = {}): Pool => {
    const lines = new Lines(doubtMs);
    const config = { connectionString: proxy.url, Client: TimelyClient, connected: lines.add, ...more };
    const made = new Pool(config as ClientConfig);
    made.on('error', () => undefined);
    lines.watch(made);
    boundConnecting(made, 60_000);
    return made;
  };

  it('gives up one whose server process knows of no statement, and its idle ones with it', async () => {
    pool = pooled(200);
    const held = await Promise.all([pool.connect(), pool.connect()]);
    held[1].release();
    proxy.silence();
    proxy.reopen();
    await expect(held[0].query('SELECT')).rejects.toThrow('Connection terminated');
    held[0].release(true);
    await pool.query('SELECT');
    expect(pool.totalCount).toBe(1);
  });

  it('waits for one whose server process is at work', async () => {
    pool = pooled(200);
    const held = await pool.connect();
    await held.query('SELECT pg_advisory_lock(1)');
    const other = await pool.connect();
    const [{ pid }] = (await other.query('SELECT pg_backend_pid() AS pid')).rows;
    const waiting = other.query('SELECT pg_advisory_lock(1)');
    const looks = proxy.connected + 3; // each is a connection of its own
    await until('it was looked into', () => proxy.connected > looks);
    await held.query('SELECT pg_advisory_unlock(1)');
    await waiting;
    expect((await other.query('SELECT pg_backend_pid() AS pid')).rows).toEqual([{ pid }]);
    held.release();
    other.release();
  });

  it('waits for a statement that is still on its way', async () => {
    pool = pooled(200);
    const [slow, lost] = await Promise.all([pool.connect(), pool.connect()]);
    proxy.silence();
    proxy.reopen();
    const long = slow.query('SELECT length($1) AS n', ['x'.repeat(8_000_000)]);
    await expect(lost.query('SELECT')).rejects.toThrow('Connection terminated');
    proxy.relent();
    expect((await long).rows).toEqual([{ n: 8_000_000 }]);
    slow.release();
    lost.release(true);
  });

  it('waits for an answer that is still coming in', async () => {
    pool = pooled(200);
    const held = await pool.connect();
    proxy.silence();
    proxy.reopen();
    const long = held.query(`SELECT repeat('x', 100000) AS x`);
    const looks = proxy.connected + 3;
    await until('it was looked into', () => {
      proxy.drip();
      return proxy.connected > looks;
    });
    proxy.relent();
    expect((await long).rows).toEqual([{ x: 'x'.repeat(100_000) }]);
    held.release();
  });

  it('may lose one that somebody has, who hears of it by the next statement', async () => {
    pool = pooled(60_000);
    const source = await createDataSource(proxy.url).initialize();
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    const held = await pool.connect();
    const broken = [held, (await runner.connect()) as PoolClient].map(
      (one) => new Promise<void>((resolve) => one.once('end', resolve)),
    );
    proxy.cut();
    await Promise.all(broken);
    held.release();
    const told = await runner.commitTransaction().catch(asStorageUnavailable);
    expect(told).toBeInstanceOf(StorageUnavailable);
    await source.destroy();
  });

  it('takes no more of a caller than its patience, by whatever is waited for', async () => {
    pool = pooled(60_000, { max: 1 });
    const held = await pool.connect();
    const asCaller = (ms: number, work: () => Promise<unknown>) =>
      new Promise((resolve, reject) => {
        Patience.bound(ms, () => void work().then(resolve, reject));
      });
    await expect(asCaller(50, () => pool.query('SELECT'))).rejects.toThrow('timeout exceeded when trying to connect');
    proxy.silence();
    await expect(asCaller(50, () => held.query('SELECT'))).rejects.toThrow('Query read timeout');
    held.release(true);
    proxy.reopen();
    await pool.query('SELECT');
  });
});
