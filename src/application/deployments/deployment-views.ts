import type { Deployment } from '../../domain/deployments/deployment.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Deployments } from './ports/deployments.js';
import type { ModelServers, ServerState } from './ports/model-servers.js';

/** A deployment and what is true of its process right now. */
export interface DeploymentView extends Deployment {
  readonly state: ServerState & { readonly port: number };
}

/** Joins what is stored of a deployment with what its process proves. */
export class DeploymentViews {
  constructor(
    private readonly deployments: Deployments,
    private readonly servers: ModelServers,
  ) {}

  /** Throws NotFound. */
  async find(id: string): Promise<Deployment> {
    const deployment = await this.deployments.find(id);
    if (!deployment) throw new NotFound('deployment');
    return deployment;
  }

  async of(deployment: Deployment): Promise<DeploymentView> {
    const state = await this.servers.probe(deployment.id);
    const port = state.port ?? deployment.lastPort;
    if (port !== deployment.lastPort) await this.deployments.notePort(deployment.id, port);
    return { ...deployment, state: { ...state, port } };
  }
}
