import { injectable } from 'inversify';
import { ReadMetrics } from '../../../application/operations/read-metrics.js';
import { type Controller, route } from '../contract.js';
import * as contracts from './metrics.contract.js';

@injectable()
export class MetricsController implements Controller {
  readonly routes = [route(contracts.metrics, ({ caller }) => this.readMetrics.execute({ by: caller }))];

  constructor(private readonly readMetrics: ReadMetrics) {}
}
