import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { type DeploymentView, DeploymentViews } from './deployment-views.js';

@injectable()
export class ReadDeployment {
  constructor(private readonly views: DeploymentViews) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; id: string }): Promise<DeploymentView> {
    authorize(input.by, permissions.readMonitoring);
    return this.views.of(await this.views.find(input.id));
  }
}
