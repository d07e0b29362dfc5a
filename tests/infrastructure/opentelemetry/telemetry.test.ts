import { execFileSync } from 'node:child_process';
import { createServer, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadConfig } from '../../../src/bootstrap/config/config.js';
import { millisecondsOf, OpenTelemetry } from '../../../src/infrastructure/opentelemetry/telemetry.js';
import { gauge, histogram } from '../../../src/infrastructure/prometheus/metric-sources.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';
import { OtlpCollector } from '../../support/otlp-collector.js';
import { until, within } from '../../support/until.js';

const REST = '/../../..';

/** Creates the app as a start does, and prints the loaded modules of OpenTelemetry. */
const PROGRAM = `
  const src = ${JSON.stringify(`${__dirname}${REST}/dist/src`)};
  const load = (path) => require(src + path);
  load('/bootstrap/app.js');
  const config = load('/bootstrap/config/config.js').loadConfigFromProcess();
  load('/bootstrap/telemetry.js').startTelemetry(config, console).then(async (telemetry) => {
    const database = load('/infrastructure/typeorm/data-source.js').createDataSource('postgres://localhost/none');
    const container = load('/bootstrap/container.js').createContainer({ config, database, logger: console, telemetry });
    load('/bootstrap/http.js').httpApp(container, config);
    const loaded = Object.keys(require.cache).map((path) => /@opentelemetry\\/([^/]+)/.exec(path)?.[1]);
    console.log([...new Set(loaded)].filter(Boolean).join());
    process.exit();
  });
`;

const loaded = (env: Readonly<Record<string, string>>) =>
  execFileSync(process.execPath, ['-e', PROGRAM], {
    env: { PATH: process.env.PATH, SERVICE_SECRET: 'x'.repeat(16), ...env },
  })
    .toString()
    .trim()
    .split(',');

/** Returns the size of the objects that are in use. Garbage does not count. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('OpenTelemetry', () => {
  let collector: OtlpCollector;
  beforeAll(async () => {
    collector = await OtlpCollector.start();
  });
  afterAll(() => collector.close());
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
  });

  it('is not loaded without a collector, or if it is switched off', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const theApiOfPromClient = ['api'];
    expect(loaded({})).toEqual(theApiOfPromClient);
    expect(loadConfig({ ...endpoint, OTEL_SDK_DISABLED: 'True' }).openTelemetry).toBeNull();
    expect(loaded(endpoint)).toContain('sdk-node');
  });

  it('ignores times that a timer cannot use', () => {
    for (const wrong of [undefined, '', '-5', '0', 'soon', '2147483648', 'Infinity'])
      expect(millisecondsOf(wrong)).toBeNull();
    expect(millisecondsOf('2147483647')).toBe(2_147_483_647);
  });

  it('exports waiting spans and metrics when it stops, as the variables say', async () => {
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

  it('gives one warning, and takes limited memory and shutdown time, while its collector is silent', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined))); // never answers
    silent.listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_METRIC_EXPORT_INTERVAL: '20',
      OTEL_METRIC_EXPORT_TIMEOUT: '-5',
    };
    Object.assign(process.env, variables);
    const log = new MemoryLogger();
    const telemetry = new OpenTelemetry({ variables, version: '1', instance: 'one' }, log);
    const request = () => telemetry.tracer.trace('request', { kind: 'server' }, async () => undefined);
    const before = heapInUse();
    for (let n = 0; n < 20_000; n++) await request();
    expect(heapInUse() - before).toBeLessThan(60_000_000);
    await until('there is a warning', () => log.lines.length > 0);
    for (let n = 0; n < 2_000; n++) await request();
    expect(await within(2_000, () => telemetry.stop(300))).toBe(true);
    expect(log.lines.map(({ level, event }) => [level, event])).toEqual([
      ['warn', 'OpenTelemetry does not export everything'],
    ]);
    silent.close();
    for (const socket of sockets) socket.destroy();
    await telemetry.stop(10_000); // no export may run after the test
  });
});
