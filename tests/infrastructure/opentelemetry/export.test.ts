import { OpenTelemetry } from '../../../src/infrastructure/opentelemetry/telemetry.js';
import { gauge, histogram } from '../../../src/infrastructure/prometheus/metric-sources.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';
import { OtlpCollector } from '../../support/otlp-collector.js';

let collector: OtlpCollector;
beforeAll(async () => {
  collector = await OtlpCollector.start();
});
afterAll(() => collector.close());

it('OpenTelemetry exports waiting spans and metrics when it stops, as the variables say', async () => {
  const variables = {
    ...collector.env,
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    OTEL_METRIC_EXPORT_INTERVAL: '60000',
    OTEL_SERVICE_NAME: 'ours',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=secret',
  };
  Object.assign(process.env, variables);
  const log = new MemoryLogger();
  const telemetry = new OpenTelemetry({ variables, version: '1', instance: 'one' }, log);
  const labels = { project: 'p' };
  const bucket = (le: string, value: number) => ({ metricName: 'h_bucket', labels: { ...labels, le }, value });
  telemetry.export(async () => [
    gauge('g', 'A gauge.', [
      { labels, value: 3 },
      { labels: { project: 'q' }, value: Number.NaN },
    ]),
    histogram('h', 'A histogram.', [
      ...[bucket('0.1', 2), bucket('1', 5), bucket('+Inf', 6)],
      { metricName: 'h_sum', labels, value: 7.5 },
      { metricName: 'h_count', labels, value: 6 },
    ]),
  ]);
  await telemetry.tracer.trace('request', { kind: 'server' }, async () => undefined);
  expect(collector.spans).toEqual([]);
  await telemetry.stop(10_000);
  expect(collector.spans.map(({ name }) => name)).toEqual(['request']);
  expect(collector.resource).toMatchObject({
    'service.name': 'ours',
    'service.version': '1',
    'service.instance.id': 'one',
  });
  expect(collector.headers).toMatchObject({ 'api-key': 'secret' });
  const attributes = [{ key: 'project', value: { stringValue: 'p' } }];
  expect(collector.metrics.get('g')).toMatchObject({ gauge: { dataPoints: [{ attributes, asDouble: 3 }] } });
  expect(collector.metrics.get('h')).toMatchObject({
    histogram: {
      dataPoints: [{ attributes, bucketCounts: [2, 3, 1], explicitBounds: [0.1, 1], sum: 7.5, count: 6 }],
      aggregationTemporality: 2,
    },
  });
  expect(log.lines).toEqual([]);
});
