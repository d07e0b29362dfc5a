import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { DeploymentView, DeploymentViews } from './deployment-views.js';
import type { Deployments } from './ports/deployments.js';

/** All deployments, newest first, each probed at the same time as the others. */
export class ListDeployments {
  constructor(
    private readonly deployments: Deployments,
    private readonly views: DeploymentViews,
  ) {}

  async execute(input: { by: Caller | null }): Promise<DeploymentView[]> {
    authorize(input.by, permissions.readMonitoring);
    return this.views.ofAll(await this.deployments.all());
  }
}
