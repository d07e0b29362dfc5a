import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { LocalServer } from './local-server.js';

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  /** Nanoseconds since the epoch. */
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
}

export interface CollectedMetric {
  readonly name: string;
  readonly sum?: unknown;
  readonly gauge?: unknown;
  readonly histogram?: { readonly dataPoints: readonly { readonly count: number; readonly bucketCounts: number[] }[] };
}

/** Runs a collector of OpenTelemetry that accepts OTLP as JSON and keeps everything. */
export class OtlpCollector extends LocalServer {
  readonly spans: CollectedSpan[] = [];
  readonly metrics = new Map<string, CollectedMetric>();
  /** Contains the attributes of the latest sender. */
  resource: Readonly<Record<string, unknown>> = {};

  /** Contains the headers of the latest request. */
  headers: IncomingHttpHeaders = {};

  static start(): Promise<OtlpCollector> {
    return new OtlpCollector().listen();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers = request.headers;
    // biome-ignore lint/suspicious/noExplicitAny: a test needs few parts of OTLP
    const body = (await json(request)) as any;
    for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
      this.resource = attributesOf(resource);
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
    for (const { scopeMetrics } of body.resourceMetrics ?? [])
      for (const { metrics } of scopeMetrics) for (const metric of metrics) this.metrics.set(metric.name, metric);
    response.setHeader('Content-Type', 'application/json').end('{}');
  }

  /** Returns the variables that make a service send everything here soon. */
  get env(): Readonly<Record<string, string>> {
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${this.host}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
    };
  }

  trace(traceId: string | undefined): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }
}

export const attributesOf = ({ attributes }: { readonly attributes: readonly Attribute[] }) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));

// biome-ignore lint/suspicious/noExplicitAny: a value of any type
const plain = (value: any): unknown =>
  value.arrayValue ? value.arrayValue.values.map(plain) : Object.values(value)[0];
