import { injectable } from 'inversify';
import { StorageProbe } from '../../../application/operations/ports.js';
import { type Controller, route } from '../contract.js';
import { GracefulShutdown } from '../graceful-shutdown.js';
import * as contracts from './health.contract.js';

@injectable()
export class HealthController implements Controller {
  readonly routes = [
    route(contracts.live, async () => ({ status: 'ok' as const })),
    route(contracts.ready, async () => {
      this.shutdown.check();
      await this.storage.check();
      return { status: 'ok' as const };
    }),
  ];

  constructor(
    private readonly storage: StorageProbe,
    private readonly shutdown: GracefulShutdown,
  ) {}
}
