import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Deployments } from './ports/deployments.js';
import type { ModelServers } from './ports/model-servers.js';

/** Returns once the process is gone. */
export class DeleteDeployment {
  constructor(
    private readonly deployments: Deployments,
    private readonly servers: ModelServers,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; id: string }): Promise<void> {
    authorize(input.by, permissions.manageMonitoring);
    // The row first: whatever happens after that, no start of the service brings the process back.
    if (!(await this.deployments.remove(input.id))) throw new NotFound('deployment');
    await this.servers.stop(input.id);
  }
}
