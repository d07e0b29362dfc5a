import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { type DeploymentView, DeploymentViews } from './deployment-views.js';
import { DeploymentRepository } from './ports.js';

/** All deployments, newest first, each probed at the same time as the others. */
@injectable()
export class ListDeployments {
  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly views: DeploymentViews,
  ) {}

  async execute(input: { by: Caller | null }): Promise<DeploymentView[]> {
    authorize(input.by, permissions.readMonitoring);
    return this.views.ofAll(await this.deployments.all());
  }
}
