import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Audit } from '../audit/audit.js';
import type { Ownership } from '../processes/ownership.js';
import type { OtherProcesses } from '../processes/ports/other-processes.js';
import type { Deployments } from './ports/deployments.js';
import type { ModelServers } from './ports/model-servers.js';

/** Returns once the process is gone, unless it is of a process of the service that cannot be asked: that ends it soon. */
export class DeleteDeployment {
  constructor(
    private readonly deployments: Deployments,
    private readonly servers: ModelServers,
    private readonly audit: Audit,
    private readonly ownership: Ownership,
    private readonly others: OtherProcesses,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; id: string }): Promise<void> {
    const by = authorize(input.by, permissions.manageMonitoring);
    const object = await this.deployments.find(input.id);
    // The row first: whatever happens after that, no start of the service brings the process back.
    const removed =
      object &&
      (await this.audit.perform({ by, action: 'deployment.deleted', object }, () =>
        this.deployments.remove(object.id),
      ));
    if (!removed) throw new NotFound('deployment');
    await this.servers.stop(input.id);
    const { process } = object;
    if (process !== null && process !== (await this.ownership.own())) await this.others.settle(process, input.id);
  }
}
