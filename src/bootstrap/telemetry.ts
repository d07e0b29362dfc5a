import { hostname } from 'node:os';
import type { LogFields, Logger, Tracer } from '../application/shared/ports.js';
import { CallTelemetry } from '../infrastructure/chat-runtimes/call-telemetry.js';
import { traceFields } from '../infrastructure/opentelemetry/trace-fields.js';
import type { MetricSnapshot } from '../infrastructure/prometheus/metric-sources.js';
import { AsyncRequestContext, NoTracer } from '../infrastructure/system/adapters.js';
import { version } from '../interfaces/version.js';
import type { Config } from './config/config.js';

const requests = new AsyncRequestContext();

/** Returns the ids of the running request and of its trace, for the log. */
export const runningFields = (): LogFields =>
  requests.id === null ? traceFields() : { request_id: requests.id, ...traceFields() };

/** Exports traces and metrics, or does nothing. */
export interface Telemetry {
  readonly tracer: Tracer;
  /** Makes a span of each call to a runtime. */
  readonly calls: CallTelemetry;
  /** Exports these metrics from now on. */
  export(readMetrics: () => Promise<readonly MetricSnapshot[]>): void;
  stop(graceMs: number): Promise<void>;
}

export const noTelemetry: Telemetry = {
  tracer: new NoTracer(),
  calls: new CallTelemetry(),
  export: () => undefined,
  stop: async () => undefined,
};

/** Starts OpenTelemetry. Without a collector, does not load it. */
export async function startTelemetry({ openTelemetry, instanceName }: Config, log: Logger): Promise<Telemetry> {
  if (openTelemetry === null) return noTelemetry;
  const { OpenTelemetry } = await import('../infrastructure/opentelemetry/telemetry.js');
  const instance = instanceName ?? `${hostname()}-${process.pid}`;
  return new OpenTelemetry({ variables: openTelemetry, version, instance }, log);
}
