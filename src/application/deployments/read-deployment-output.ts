import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { DeploymentViews } from './deployment-views.js';
import { ModelServer } from './ports.js';

/** The latest lines that a deployment's processes wrote since the service started. */
@injectable()
export class ReadDeploymentOutput {
  constructor(
    private readonly views: DeploymentViews,
    private readonly servers: ModelServer,
  ) {}

  /** Throws NotFound, RunsElsewhere. */
  async execute(input: { by: Caller | null; id: string; lines: number }): Promise<string[]> {
    authorize(input.by, permissions.readMonitoring);
    await this.views.findHere(input.id);
    return this.servers.output(input.id, input.lines);
  }
}
