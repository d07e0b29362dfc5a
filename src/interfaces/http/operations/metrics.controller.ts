import type { ReadMetrics } from '../../../application/operations/read-metrics.js';
import { type Controller, route } from '../contract.js';
import * as contracts from './metrics.contract.js';

export class MetricsController implements Controller {
  readonly routes = [route(contracts.metrics, ({ caller }) => this.readMetrics.execute({ by: caller }))];

  constructor(private readonly readMetrics: ReadMetrics) {}
}
