import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { DeploymentViews } from './deployment-views.js';
import type { ModelServers } from './ports/model-servers.js';

/** The latest lines that a deployment's processes wrote since the service started. */
export class ReadDeploymentOutput {
  constructor(
    private readonly views: DeploymentViews,
    private readonly servers: ModelServers,
  ) {}

  /** Throws NotFound, RunsElsewhere. */
  async execute(input: { by: Caller | null; id: string; lines: number }): Promise<string[]> {
    authorize(input.by, permissions.readMonitoring);
    await this.views.findHere(input.id);
    return this.servers.output(input.id, input.lines);
  }
}
