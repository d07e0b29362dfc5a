import { injectable } from 'inversify';
import { MonitoringService } from '../../../application/operations/monitoring.service.js';
import { listed } from '../answers.js';
import { type Controller, route } from '../contract.js';
import { GracefulShutdown } from '../server.js';
import * as contracts from './monitoring.contract.js';

@injectable()
export class MonitoringController implements Controller {
  readonly routes = [
    route(contracts.readLog, async ({ caller, query: { tail, job_id: jobId = null } }) => {
      const { lines, file } = await this.monitoring.readLog({ by: caller, most: tail, jobId });
      return { ...listed('lines', lines), file };
    }),
    route(contracts.metrics, ({ caller }) => this.monitoring.readMetrics({ by: caller })),
    route(contracts.live, async () => ({ status: 'ok' as const })),
    route(contracts.ready, async () => {
      this.shutdown.check();
      await this.monitoring.checkReady();
      return { status: 'ok' as const };
    }),
  ];

  constructor(
    private readonly monitoring: MonitoringService,
    private readonly shutdown: GracefulShutdown,
  ) {}
}
