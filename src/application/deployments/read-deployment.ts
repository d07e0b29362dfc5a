import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { DeploymentView, DeploymentViews } from './deployment-views.js';

export class ReadDeployment {
  constructor(private readonly views: DeploymentViews) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; id: string }): Promise<DeploymentView> {
    authorize(input.by, permissions.readMonitoring);
    return this.views.of(await this.views.find(input.id));
  }
}
