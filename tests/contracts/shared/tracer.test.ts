import { SpanKind, trace } from '@opentelemetry/api';
import { core, NodeSDK } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Span, Tracer } from '../../../src/application/shared/ports.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import { OpenTelemetryTracer } from '../../../src/infrastructure/opentelemetry/open-telemetry-tracer.js';
import { samplerOf } from '../../../src/infrastructure/opentelemetry/telemetry.js';
import { traceFields } from '../../../src/infrastructure/opentelemetry/trace-fields.js';
import { NoTracer } from '../../../src/infrastructure/system/adapters.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';
import { atOnce, barrier } from '../../support/barrier.js';

const exporter = new InMemorySpanExporter();
const log = new MemoryLogger(traceFields);
let sampler = samplerOf();
const sdk = new NodeSDK({
  autoDetectResources: false,
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
  sampler: { shouldSample: (...about) => sampler.shouldSample(...about), toString: () => 'the sampler of the test' },
  textMapPropagator: new core.W3CTraceContextPropagator(),
  metricReaders: [],
  logRecordProcessors: [],
});
sdk.start();
afterAll(() => sdk.shutdown());
beforeEach(() => exporter.reset());

const recorded = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name) as ReadableSpan;
const names = () => exporter.getFinishedSpans().map(({ name }) => name);
const parentOf = (name: string) => recorded(name).parentSpanContext?.spanId;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const headersOf = (flags: string) => ({ traceparent: `00-${TRACE}-00f067aa0ba902b7-${flags}` });

const openTelemetry = new OpenTelemetryTracer(trace.getTracer('test'));

describe.each<[string, Tracer]>([
  ['none', new NoTracer()],
  ['OpenTelemetry', openTelemetry],
])('Tracer of %s', (_, tracer) => {
  it('runs work and passes on its result or its error', async () => {
    const failure = new Error('no');
    const span = tracer.start('sync', { kind: 'server' });
    expect(span.run(() => 1)).toBe(1);
    span.set({ a: 1 });
    span.add('part', { from: 0, to: 1 });
    span.end();
    span.end(failure);
    await expect(tracer.trace('async', { kind: 'server' }, async () => 2)).resolves.toBe(2);
    await expect(tracer.trace('async', {}, () => Promise.reject(failure))).rejects.toBe(failure);
  });

  it('has no headers outside of a trace', () => {
    expect(tracer.headers()).toEqual({});
  });
});

describe('Tracer of OpenTelemetry', () => {
  const inRequest = <T>(work: (span: Span) => Promise<T>, cause = {}) =>
    openTelemetry.trace('request', { kind: 'server', cause }, work);

  it('makes one tree of the spans of a request, also after an await, and statements lie within it', async () => {
    const allHaveBegun = barrier(3);
    await atOnce(3, (n) =>
      openTelemetry.trace(`request ${n}`, { kind: 'server' }, async () => {
        await allHaveBegun();
        await openTelemetry.trace(`statement ${n}`, { kind: 'client' }, async (span) => {
          await new Promise((resolve) => setImmediate(resolve));
          span.add(`part ${n}`, { from: 0, to: 0.001 }, { n });
        });
      }),
    );
    for (const n of [0, 1, 2]) {
      expect(parentOf(`request ${n}`)).toBeUndefined();
      expect(parentOf(`statement ${n}`)).toBe(recorded(`request ${n}`).spanContext().spanId);
      expect(parentOf(`part ${n}`)).toBe(recorded(`statement ${n}`).spanContext().spanId);
      const { startTime, endTime } = recorded(`statement ${n}`);
      const around = recorded(`request ${n}`);
      const edges = [around.startTime, startTime, endTime, around.endTime].map(core.hrTimeToMicroseconds);
      expect([...edges].sort((a, b) => a - b)).toEqual(edges);
    }
    expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(3);
  });

  it('continues the trace of a caller and returns the headers to pass on', async () => {
    const [headers, { kind }] = await inRequest(async () => {
      const sent = await openTelemetry.trace('call', { kind: 'client' }, async () => openTelemetry.headers());
      return [sent, recorded('call')] as const;
    }, headersOf('01'));
    expect(kind).toBe(SpanKind.CLIENT);
    expect(recorded('request').parentSpanContext).toMatchObject({ traceId: TRACE, spanId: '00f067aa0ba902b7' });
    expect(headers).toEqual({ traceparent: `00-${TRACE}-${recorded('call').spanContext().spanId}-01` });
  });

  it.each(['00', '01'])('does not let the caller choose whether its request is recorded (flags %s)', async (flags) => {
    const records = async (name?: string, ratio?: string) => {
      sampler = samplerOf(name, ratio);
      let count = 0;
      for (let n = 0; n < 300; n++) if (await inRequest(async (span) => span.isRecorded, headersOf(flags))) count++;
      return count;
    };
    expect(await records()).toBe(300);
    expect(await records('always_off')).toBe(0);
    expect(await records('parentbased_traceidratio', '0')).toBe(0);
    for (const wrong of ['', 'a tenth', '10%', '-1']) expect(await records('traceidratio', wrong)).toBe(300);
    for (const name of ['traceidratio', 'parentbased_traceidratio']) {
      const count = await records(name, '0.5');
      expect(count).toBeGreaterThan(75);
      expect(count).toBeLessThan(225);
    }
    sampler = samplerOf();
  });

  it('records all spans of a trace or none, also those of its tasks', async () => {
    for (const name of ['always_off', 'always_on']) {
      sampler = samplerOf(name);
      const cause = await inRequest(async () => {
        await openTelemetry.trace('statement', { kind: 'client' }, async () => undefined);
        return openTelemetry.headers();
      });
      sampler = samplerOf('traceidratio', name === 'always_on' ? '0' : '1');
      await openTelemetry.trace('task', { kind: 'consumer', cause }, () =>
        openTelemetry.trace('step', {}, async () => undefined),
      );
      expect(names()).toEqual(name === 'always_on' ? ['statement', 'request', 'step', 'task'] : []);
    }
    sampler = samplerOf();
    await openTelemetry.trace('statement of no request', { kind: 'client' }, async () => undefined);
    expect(names()).not.toContain('statement of no request');
  });

  it('records the type of a failure but not its text, and logs the ids of trace and span', async () => {
    const secret = 'the prompt';
    for (const failure of [
      new NotFound(secret),
      Object.assign(new Error(secret), { code: '23505' }),
      new TypeError(secret),
    ])
      await inRequest(async () => {
        log.info('in between');
        throw failure;
      }).catch(() => undefined);
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ attributes, status }) => [attributes['error.type'], status.code])).toEqual([
      ['not_found', 2],
      ['23505', 2],
      ['TypeError', 2],
    ]);
    expect(JSON.stringify(spans.map(({ attributes, status, events }) => [attributes, status, events]))).not.toContain(
      secret,
    );
    const { traceId: trace_id, spanId: span_id } = (spans[0] as ReadableSpan).spanContext();
    expect(log.lines[0]?.fields).toEqual({ trace_id, span_id });
  });
});
