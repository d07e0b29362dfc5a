import type { Deployments } from './ports/deployments.js';
import type { ModelServers } from './ports/model-servers.js';

/** At the start of the service: brings every deployment up again, without waiting for any. */
export class ResumeDeployments {
  constructor(
    private readonly deployments: Deployments,
    private readonly servers: ModelServers,
  ) {}

  async execute(): Promise<void> {
    for (const { id, ...model } of await this.deployments.all()) this.servers.resume(id, model);
  }
}
