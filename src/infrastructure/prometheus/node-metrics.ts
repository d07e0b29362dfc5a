import { collectDefaultMetrics, type Registry } from 'prom-client';

/** Gauges with names like counters, which `promtool check metrics` refuses. Other gauges have the same sums. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export function collectNodeMetrics(register: Registry): void {
  collectDefaultMetrics({ register });
  for (const name of MISNAMED) register.removeSingleMetric(name);
}
