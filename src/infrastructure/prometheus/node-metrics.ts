import { collectDefaultMetrics, type Registry } from 'prom-client';

/** Gauges with the suffix of counters, which `promtool check metrics` refuses. They are sums over labels of other gauges. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Collects the figures of the Node.js process. */
export function collectNodeMetrics(register: Registry): void {
  collectDefaultMetrics({ register });
  for (const name of MISNAMED) register.removeSingleMetric(name);
}
