import { injectable } from 'inversify';
import { MonitoringService } from '../../../application/operations/monitoring.service.js';
import { type Controller, route } from '../contract.js';
import { readLog } from './logs.contract.js';
import { metrics } from './metrics.contract.js';

@injectable()
export class MonitoringController implements Controller {
  readonly routes = [
    route(readLog, async ({ caller, query: { tail, job_id: jobId = null } }) => {
      const { lines, file } = await this.monitoring.readLog({ by: caller, most: tail, jobId });
      return { lines, count: lines.length, file };
    }),
    route(metrics, ({ caller }) => this.monitoring.readMetrics({ by: caller })),
  ];

  constructor(private readonly monitoring: MonitoringService) {}
}
