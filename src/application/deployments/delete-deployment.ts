import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.js';
import { Ownership } from '../processes/ownership.js';
import { OtherProcesses } from '../processes/ports.js';
import { DeploymentRepository, ModelServer } from './ports.js';

/** Returns once the process is gone, unless it is of a process of the service that cannot be asked: that ends it soon. */
@injectable()
export class DeleteDeployment {
  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly servers: ModelServer,
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
