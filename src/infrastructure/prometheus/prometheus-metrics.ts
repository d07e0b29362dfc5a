import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { Metrics, RateLimit } from '../../application/operations/ports.js';
import { resultWithin } from '../system/scheduling.js';
import type { MetricSnapshot, MetricSource } from './metric-sources.js';
import { collectNodeMetrics } from './node-metrics.js';

/** Limits the time for one source. All sources are read at the same time. */
const TIMEOUT_MS = 1_500;

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The end of a request. `route` is a template, so that the number of time series is limited. */
export interface Answered {
  readonly method: string;
  readonly route: string;
  readonly status: string;
}

/** Counts HTTP requests as they happen. Collects the other metrics, with those of Node.js, when they are read. */
export class PrometheusMetrics implements Metrics {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];
  private readonly pending = new Map<MetricSource, Promise<readonly MetricSnapshot[] | null>>();
  private readonly requests = new Counter({
    name: 'tenon_http_requests_total',
    help: 'Requests that were answered, by method, route and HTTP status; the status "gone" is a caller who went away.',
    labelNames: ['method', 'route', 'status'],
    registers: this.registers,
  });
  private readonly durations = new Histogram({
    name: 'tenon_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by method and route.',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers: this.registers,
  });
  private readonly inFlight = new Gauge({
    name: 'tenon_http_requests_in_flight',
    help: 'Requests that are being answered.',
    registers: this.registers,
  });
  private readonly limited = new Counter({
    name: 'tenon_rate_limit_refusals_total',
    help: 'Requests that were refused with 429, by the limit that they exceeded.',
    labelNames: ['limit'],
    registers: this.registers,
  });

  constructor(private readonly sources: readonly MetricSource[]) {
    collectNodeMetrics(this.registry);
    for (const limit of ['default', 'auth']) this.limited.inc({ limit }, 0);
  }

  /** Counts a request that has begun. The returned function must be called at the end of the request. */
  readonly began = (): ((answered: Answered) => void) => {
    this.inFlight.inc();
    const took = this.durations.startTimer();
    return ({ method, route, status }) => {
      this.inFlight.dec();
      took({ method, route });
      this.requests.inc({ method, route, status });
    };
  };

  readonly refused = (limit: RateLimit['policy']): void => this.limited.inc({ limit });

  async snapshots(): Promise<MetricSnapshot[]> {
    const own = (await this.registry.getMetricsAsJSON()) as unknown as MetricSnapshot[];
    return [...own, ...(await this.collected())];
  }

  async read(): Promise<string> {
    const others = new Registry();
    for (const snapshot of await this.collected())
      others.registerMetric({ ...snapshot, get: async () => snapshot } as unknown as Metric);
    return `${await this.registry.metrics()}\n${await others.metrics()}`;
  }

  private async collected(): Promise<MetricSnapshot[]> {
    return (await Promise.all(this.sources.map((source) => this.collect(source)))).flat();
  }

  /** Collects the metrics of a source. Does not ask a source again while it has not answered. */
  private async collect(source: MetricSource): Promise<readonly MetricSnapshot[]> {
    const answer = this.pending.get(source) ?? answerOf(source).finally(() => this.pending.delete(source));
    this.pending.set(source, answer);
    return (await resultWithin(answer, TIMEOUT_MS)) ?? source.fallback ?? [];
  }
}

async function answerOf({ collect }: MetricSource): Promise<readonly MetricSnapshot[] | null> {
  try {
    return await collect();
  } catch {
    return null;
  }
}
