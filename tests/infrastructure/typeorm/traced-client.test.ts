import { trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { OpenTelemetryTracer } from '../../../src/infrastructure/opentelemetry/open-telemetry-tracer.js';
import { createDataSource, type DataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { atOnce } from '../../support/barrier.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';

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
