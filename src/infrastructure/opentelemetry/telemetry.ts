/** Loads the SDK of OpenTelemetry. Imported only if tracing is on. */

import { randomBytes } from 'node:crypto';
import { DiagLogLevel, diag, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPMetricExporter as GrpcExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { core, metrics, NodeSDK, resources } from '@opentelemetry/sdk-node';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Logger, Tracer } from '../../application/shared/ports.js';
import type { CallTelemetry } from '../chat-runtimes/call-telemetry.js';
import type { MetricSnapshot } from '../prometheus/metric-sources.js';
import { resultWithin, steadyMs } from '../system/scheduling.js';
import { GenAiTelemetry } from './gen-ai.js';
import { MetricsBridge } from './metrics-bridge.js';
import { OpenTelemetryTracer } from './open-telemetry-tracer.js';

export interface TelemetrySettings {
  /** The variables of the environment that begin with `OTEL_`. The SDK reads most of them itself. */
  readonly variables: Readonly<Record<string, string>>;
  readonly version: string;
  /** The id of this instance. */
  readonly instance: string;
}

const EXPORT_INTERVAL_MS = 60_000;
const EXPORT_TIMEOUT_MS = 30_000;
/** A missing collector is reported at most once in this time. */
const QUIET_MS = 60 * 60_000;
const LONGEST_WARNING = 500;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Exports traces and metrics with OTLP. The environment variables configure the export. */
export class OpenTelemetry {
  readonly tracer: Tracer;
  readonly calls: CallTelemetry;
  private readonly sdk: NodeSDK;
  private ended: Promise<void> | null = null;
  private readMetrics: () => Promise<readonly MetricSnapshot[]> = async () => [];

  constructor({ variables, version, instance }: TelemetrySettings, log: Logger) {
    diag.setLogger(warnings(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    const service = { 'service.name': 'tenon', 'service.version': version, 'service.instance.id': instance };
    this.sdk = new NodeSDK({
      resource: resources.defaultResource().merge(resources.resourceFromAttributes(service)),
      sampler: samplerOf(variables.OTEL_TRACES_SAMPLER, variables.OTEL_TRACES_SAMPLER_ARG),
      metricReaders: this.metricReaders(variables),
      logRecordProcessors: [],
      // With the default propagators, the baggage of callers would reach engines and receivers of webhooks.
      ...(!variables.OTEL_PROPAGATORS && { textMapPropagator: new core.W3CTraceContextPropagator() }),
    });
    this.sdk.start();
    this.tracer = new OpenTelemetryTracer(trace.getTracer('tenon', version));
    const content = variables.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT ?? '';
    this.calls = new GenAiTelemetry(this.tracer, /^(true|span_only|span_and_event)$/i.test(content));
  }

  /** From now on, exports these metrics in addition to those of chats. */
  export(readMetrics: () => Promise<readonly MetricSnapshot[]>): void {
    this.readMetrics = readMetrics;
  }

  /** Exports everything that waits. Resolves when the export has ended, or after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.ended ??= this.sdk.shutdown().catch(() => undefined); // the SDK logs a warning
    await resultWithin(this.ended, graceMs);
  }

  private metricReaders(variables: TelemetrySettings['variables']): metrics.IMetricReader[] {
    if (variables.OTEL_METRICS_EXPORTER === 'none') return [];
    const protocol = variables.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL ?? variables.OTEL_EXPORTER_OTLP_PROTOCOL;
    const exportIntervalMillis = millisecondsOf(variables.OTEL_METRIC_EXPORT_INTERVAL) ?? EXPORT_INTERVAL_MS;
    const timeout = millisecondsOf(variables.OTEL_METRIC_EXPORT_TIMEOUT) ?? EXPORT_TIMEOUT_MS;
    return [
      new metrics.PeriodicExportingMetricReader({
        exporter: exporterOf(protocol),
        exportIntervalMillis,
        exportTimeoutMillis: Math.min(timeout, exportIntervalMillis),
        metricProducers: [new MetricsBridge(() => this.readMetrics())],
      }),
    ];
  }
}

function exporterOf(protocol: string | undefined): metrics.PushMetricExporter {
  if (protocol === 'grpc') return new GrpcExporter();
  return protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
}

/** Returns null for a time that is too short or too long for a timer. Node.js would use one millisecond instead. */
export function millisecondsOf(text = ''): number | null {
  const time = Number(text);
  return time >= 1 && time <= LONGEST_TIMER_MS ? time : null;
}

/** Passes the first warning of the SDK to the log, and then none for `QUIET_MS`. */
function warnings(log: Logger) {
  let quietUntil = 0;
  const warn = (...parts: unknown[]) => {
    if (steadyMs() < quietUntil) return;
    quietUntil = steadyMs() + QUIET_MS;
    log.warn('OpenTelemetry does not export everything', { reason: parts.join(' ').slice(0, LONGEST_WARNING) });
  };
  const nothing = () => undefined;
  return { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
}

const TRACE_ID_BYTES = 16;

/**
 * Returns the sampler that OTEL_TRACES_SAMPLER names. Callers choose the flag and the id of their traces, so the
 * sampler ignores both. So callers cannot make the service record more. A span inside a request follows the decision
 * for the request. For a name or ratio that OpenTelemetry does not define, the sampler records everything, as in the
 * SDK.
 */
export function samplerOf(name = 'always_on', ratio = ''): Sampler {
  const root = rootSampler(name.replace(/^parentbased_/, ''), ratio);
  const own: Sampler = {
    shouldSample: (_context, _traceId, ...rest) =>
      root.shouldSample(ROOT_CONTEXT, randomBytes(TRACE_ID_BYTES).toString('hex'), ...rest),
    toString: () => String(root),
  };
  return new ParentBasedSampler({ root, remoteParentSampled: own, remoteParentNotSampled: own });
}

function rootSampler(name: string, ratio: string): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler();
  const isRatio = ratio !== '' && Number(ratio) >= 0 && Number(ratio) <= 1;
  return name === 'traceidratio' && isRatio ? new TraceIdRatioBasedSampler(Number(ratio)) : new AlwaysOnSampler();
}
