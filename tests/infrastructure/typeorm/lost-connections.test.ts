import { trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { StorageUnavailable } from '../../../src/domain/shared/errors.js';
import { OpenTelemetryTracer } from '../../../src/infrastructure/opentelemetry/open-telemetry-tracer.js';
import { createDataSource, type DataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { asStorageUnavailable } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { poolOf, TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { atOnce } from '../../support/barrier.js';
import { CutOffProxy } from '../../support/cut-off-proxy.js';
import { freshDatabase, PATIENT, type TestDatabase } from '../../support/database.js';
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

  it('ends within 5 s also for a unit of work that has waited for another one in its queue', async () => {
    const patient = await createDataSource(proxy.url).initialize();
    const unitOfWork = new TypeOrmUnitOfWork(patient);
    await atOnce(2, () => unitOfWork.query('SELECT pg_sleep(0.1)'));
    expect(poolOf(patient).idleCount).toBe(2);
    proxy.silence();
    const begun = performance.now();
    const ended = await atOnce(2, () => unitOfWork.run(async () => 'written', 'queue').catch(asStorageUnavailable));
    expect(ended).toEqual([expect.any(StorageUnavailable), expect.any(StorageUnavailable)]);
    expect(performance.now() - begun).toBeLessThan(5_000);
    proxy.cut();
    await patient.destroy();
  });

  it('reports a broken connection as StorageUnavailable', async () => {
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    proxy.cut();
    const failure = await runner.commitTransaction().catch(asStorageUnavailable);
    expect(failure).toBeInstanceOf(StorageUnavailable);
    await runner.release();
  });
});

describe('a unit of work with the time limits of the service', () => {
  let database: TestDatabase;
  let source: DataSource;
  let unitOfWork: TypeOrmUnitOfWork;
  beforeAll(async () => {
    database = await freshDatabase({ migrated: false });
    const url = new URL(database.url);
    for (const name of Object.keys(PATIENT)) url.searchParams.delete(name);
    source = await createDataSource(url.href, 24).initialize();
    unitOfWork = new TypeOrmUnitOfWork(source);
    await source.query('CREATE TABLE counters (id integer, count integer); INSERT INTO counters VALUES (1, 0)');
  });
  afterAll(async () => {
    await source.destroy();
    await database.drop();
  });

  const countUp = () => unitOfWork.query('UPDATE counters SET count = count + 1');
  const count = async () => (await unitOfWork.query<{ count: number }>('SELECT count FROM counters'))[0]?.count;
  const timed = async (work: Promise<unknown>) => {
    const begun = performance.now();
    const outcome = await work.then(
      () => 'done',
      (error) => (asStorageUnavailable(error) instanceof StorageUnavailable ? 'unavailable' : error),
    );
    return { outcome, seconds: (performance.now() - begun) / 1_000 };
  };

  it.each([
    ['statements', () => unitOfWork.run(slowly)],
    ['statements under a lock', () => unitOfWork.locked('line', slowly)],
  ])('ends within 5 s, and writes nothing, if its %s last longer together', async (_, run) => {
    const { outcome, seconds } = await timed(run());
    expect(outcome).toBe('unavailable');
    expect(seconds).toBeLessThan(5);
    expect(await count()).toBe(0);
  });
  const slowly = async () => {
    await countUp();
    for (const _ of Array(4)) await unitOfWork.query('SELECT pg_sleep(1.5)');
  };

  it.each([
    ['53100', 'the disk of the database is full'],
    ['53200', 'the database has no memory left'],
  ])('ends as unavailable if the database reports %s', async (code, reason) => {
    const raise = `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`;
    const failure = await unitOfWork.run(() => unitOfWork.query(raise)).catch(asStorageUnavailable);
    expect(failure).toBeInstanceOf(StorageUnavailable);
    expect((failure as Error).message).toContain(reason);
    expect(await unitOfWork.prepared('raised', 'SELECT 1 AS one', [])).toEqual([{ one: 1 }]);
  });

  it('ends within 5 s if 24 of them change one row', async () => {
    const ended = await atOnce(24, () =>
      timed(
        unitOfWork.run(async () => {
          await unitOfWork.query('SELECT * FROM counters');
          await unitOfWork.query('SELECT pg_sleep(0.4)');
          await countUp();
        }),
      ),
    );
    for (const { outcome, seconds } of ended) {
      expect(['done', 'unavailable']).toContain(outcome);
      expect(seconds).toBeLessThan(5);
    }
    expect(await count()).toBe(ended.filter(({ outcome }) => outcome === 'done').length);
  });
});

describe('a pool with a tracer', () => {
  const exporter = new InMemorySpanExporter();
  const sdk = new NodeSDK({
    autoDetectResources: false,
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    metricReaders: [],
    logRecordProcessors: [],
  });

  let database: TestDatabase;
  let source: DataSource;
  beforeAll(async () => {
    sdk.start();
    database = await freshDatabase();
  });
  afterAll(async () => {
    await source.destroy();
    await database.drop();
    await sdk.shutdown();
  });

  it('makes a span for each statement in the trace of its request, also while all wait for one connection', async () => {
    const tracer = new OpenTelemetryTracer(trace.getTracer('test'));
    source = await createDataSource(database.url, 1, tracer).initialize();
    const unitOfWork = new TypeOrmUnitOfWork(source);
    exporter.reset();
    await atOnce(5, (n) =>
      tracer.trace(`request ${n}`, { kind: 'server' }, async () => {
        await unitOfWork.prepared('named', 'SELECT $1::int AS n FROM pg_class LIMIT 1', [n]);
        await unitOfWork.run(() => unitOfWork.query('SELECT $1::int AS n', [n]));
        await unitOfWork.query('SELECT 1/$1::int AS nothing', [0]).catch(() => undefined);
      }),
    );
    await unitOfWork.query('SELECT 2'); // belongs to no request
    const spans = exporter.getFinishedSpans();
    for (const n of [0, 1, 2, 3, 4]) {
      const request = spans.find(({ name }) => name === `request ${n}`)?.spanContext();
      const own = spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === request?.spanId);
      expect(own.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
        ['SELECT pg_class', undefined],
        ['START', undefined],
        ['SET', undefined],
        ['SELECT', undefined],
        ['COMMIT', undefined],
        ['SELECT', '22012'],
      ]);
      expect(own[0]?.attributes).toMatchObject({
        'db.system.name': 'postgresql',
        'db.collection.name': 'pg_class',
        'db.query.text': 'SELECT $1::int AS n FROM pg_class LIMIT 1',
      });
    }
    expect(spans).toHaveLength(5 * 7);
  });
});
