import { injectable } from 'inversify';
import type { Deployment } from '../../domain/deployments/deployment.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Ownership } from '../processes/ownership.js';
import { type ModelStates, OtherProcesses } from '../processes/ports.js';
import { DeploymentRepository, ModelServer, type ServerState } from './ports.js';

/** A deployment and what is true of its process right now. */
export interface DeploymentView extends Omit<Deployment, 'process'> {
  /** What the process of the service is called that runs it; null: none does just now. */
  readonly process: string | null;
  readonly state: ServerState & { readonly port: number };
}

/** Joins what is stored of a deployment with what its process proves. */
@injectable()
export class DeploymentViews {
  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly servers: ModelServer,
    private readonly ownership: Ownership,
    private readonly others: OtherProcesses,
  ) {}

  /** Throws NotFound. */
  async find(id: string): Promise<Deployment> {
    const deployment = await this.deployments.find(id);
    if (!deployment) throw new NotFound('deployment');
    return deployment;
  }

  /** Throws NotFound, and RunsElsewhere where another process of the service has to be asked. */
  async findHere(id: string): Promise<Deployment> {
    const deployment = await this.find(id);
    const { process } = deployment;
    if (process !== null && process !== (await this.ownership.own())) throw await this.ownership.elsewhere(process);
    return deployment;
  }

  async of(deployment: Deployment): Promise<DeploymentView> {
    const [view] = await this.ofAll([deployment]);
    return view as DeploymentView;
  }

  /** All are probed at the same time, those of another process by that one. */
  async ofAll(deployments: readonly Deployment[]): Promise<DeploymentView[]> {
    const own = await this.ownership.own();
    const asked = new Map<number, Promise<ModelStates | null>>();
    for (const { process } of deployments) {
      if (process === null || process === own || asked.has(process)) continue;
      const ids = deployments.filter((one) => one.process === process).map(({ id }) => id);
      asked.set(process, this.others.states(process, ids));
    }
    return Promise.all(
      deployments.map(async (deployment) => {
        const { id, process } = deployment;
        if (process === own) return this.view(deployment, await this.servers.probe(id));
        const states = process === null ? null : await asked.get(process);
        return this.view(deployment, states?.deployments[id] ?? (await this.unasked(deployment)));
      }),
    );
  }

  /** What is known of one whose process of the service cannot be asked. */
  private async unasked({ process }: Deployment): Promise<ServerState> {
    const said = (status: ServerState['status'], reason: string) => ({ status, port: null, reason, restarts: 0 });
    if (process === null) return said('starting', 'a process of the service is about to take it');
    const name = await this.ownership.nameOf(process);
    return (await this.ownership.lives(process))
      ? said('unhealthy', `the process ${name} of the service, which runs it, cannot be asked`)
      : said('stopped', `the process ${name} of the service has ended, and another is about to take it`);
  }

  private async view(deployment: Deployment, state: ServerState): Promise<DeploymentView> {
    const port = state.port ?? deployment.lastPort;
    if (port !== deployment.lastPort) await this.deployments.notePort(deployment.id, port);
    return { ...deployment, process: await this.ownership.nameOf(deployment.process), state: { ...state, port } };
  }
}
