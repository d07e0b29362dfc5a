import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { collectNodeMetrics } from '../../prometheus/node-metrics.js';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128];

export class Metrics {
  private readonly registry = new Registry();
  private readonly requests = new Counter({
    name: 'tenon_serving_requests_total',
    help: 'Requests that were answered, by route and HTTP status.',
    labelNames: ['route', 'status'],
    registers: [this.registry],
  });
  private readonly inference = new Histogram({
    name: 'tenon_serving_inference_duration_seconds',
    help: 'Time that a run of the model took, with the way to its thread and back.',
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly batches = new Histogram({
    name: 'tenon_serving_batch_requests',
    help: 'Requests in a run of the model. A spot check repeats the requests of a batch in runs of one request.',
    buckets: BATCH_SIZES,
    registers: [this.registry],
  });

  constructor() {
    collectNodeMetrics(this.registry);
  }

  addQueue(queue: { readonly length: number; readonly running: number }): void {
    this.addGauge('tenon_serving_queue_length', 'Requests that wait for the model.', () => queue.length);
    this.addGauge('tenon_serving_running', 'Runs that the model has been given.', () => queue.running);
  }

  answered(route: string, status: number): void {
    this.requests.inc({ route, status });
  }

  /** Measures a run until the returned function is called. */
  runStarted(): (requests: number) => void {
    const end = this.inference.startTimer();
    return (requests) => {
      end();
      this.batches.observe(requests);
    };
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  private addGauge(name: string, help: string, value: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(value());
      },
    });
  }
}
