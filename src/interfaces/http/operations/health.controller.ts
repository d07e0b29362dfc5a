import type { Storage } from '../../../application/operations/ports/storage.js';
import { type Controller, route } from '../contract.js';
import type { Drain } from '../drain.js';
import * as contracts from './health.contract.js';

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
    private readonly storage: Storage,
    private readonly drain: Drain,
  ) {}
}
