import { injectable } from 'inversify';
import { StorageProbe } from '../../../application/operations/ports.js';
import { type Controller, route } from '../contract.js';
import { Drain } from '../drain.js';
import * as contracts from './health.contract.js';

@injectable()
export class HealthController implements Controller {
  readonly routes = [
    route(contracts.live, async () => ({ status: 'ok' as const })),
    route(contracts.ready, async () => {
      this.drain.check();
      await this.storage.check();
      return { status: 'ok' as const };
    }),
  ];

  constructor(
    private readonly storage: StorageProbe,
    private readonly drain: Drain,
  ) {}
}
