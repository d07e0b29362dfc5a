import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { Metrics } from '../../application/operations/ports.js';
import type { Figure, Source } from './figures.js';

/** For one source; all of them are asked at the same time. */
const PATIENCE_MS = 1_500;

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** How a request went. `route` is a template, so that there are only so many. */
export interface Answered {
  readonly method: string;
  readonly route: string;
  readonly status: string;
}

/**
 * Counts what happens over HTTP as it happens, and asks everybody else when it is asked. The process itself, with the
 * delay of its event loop, is told of by the library.
 */
export class PrometheusMetrics implements Metrics {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];
  private readonly asked = new Map<Source, Promise<readonly Figure[] | null>>();
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

  constructor(private readonly sources: readonly Source[]) {
    collectDefaultMetrics({ register: this.registry });
    for (const limit of ['default', 'auth']) this.limited.inc({ limit }, 0);
  }

  /** A request has come; its end is told by calling what this answers. */
  readonly began = (): ((how: Answered) => void) => {
    this.inFlight.inc();
    const took = this.durations.startTimer();
    return ({ method, route, status }) => {
      this.inFlight.dec();
      took({ method, route });
      this.requests.inc({ method, route, status });
    };
  };

  readonly refused = (limit: 'default' | 'auth'): void => this.limited.inc({ limit });

  async read(): Promise<string> {
    const found = await Promise.all(this.sources.map((source) => this.ask(source)));
    const others = new Registry();
    for (const figure of found.flat())
      others.registerMetric({ ...figure, get: async () => figure } as unknown as Metric);
    return `${await this.registry.metrics()}\n${await others.metrics()}`;
  }

  /** A source that has not answered yet is not asked a second time. */
  private async ask(source: Source): Promise<readonly Figure[]> {
    const answer = this.asked.get(source) ?? answerOf(source).finally(() => this.asked.delete(source));
    this.asked.set(source, answer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), PATIENCE_MS);
    });
    const figures = await Promise.race([answer, late]);
    clearTimeout(timer);
    return figures ?? source.otherwise ?? [];
  }
}

async function answerOf({ ask }: Source): Promise<readonly Figure[] | null> {
  try {
    return await ask();
  } catch {
    return null;
  }
}
