import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Deployment, deploymentLimits, type ServedModel } from '../../domain/deployments/deployment.js';
import { TooManyDeployments } from '../../domain/deployments/errors.js';
import { Audit } from '../audit/audit.js';
import { Ownership } from '../processes/ownership.js';
import { Clock, IdGenerator } from '../shared/ports.js';
import { type DeploymentView, DeploymentViews } from './deployment-views.js';
import { DeploymentRepository, ModelServer } from './ports.js';
import { TendDeployments } from './tend-deployments.js';

interface Input extends ServedModel {
  readonly by: Caller | null;
  /** Aborted when the caller goes away: then there is no deployment. */
  readonly signal: AbortSignal;
}

/** Starts a process for a model file, and keeps the deployment once that has proved its health. */
@injectable()
export class CreateDeployment {
  /** Of this process, those that are not stored yet. */
  private beginning = 0;

  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly servers: ModelServer,
    private readonly views: DeploymentViews,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    private readonly ownership: Ownership,
    private readonly tending: TendDeployments,
  ) {}

  /** Throws InvalidRequest, TooManyDeployments, and what `ModelServers.start` throws; nothing is left behind then. */
  async execute({ by, signal, ...input }: Input): Promise<DeploymentView> {
    const caller = authorize(by, permissions.manageMonitoring);
    const model = Deployment.model(input);
    const id = this.ids.next('dep');
    const createdBy = caller.kind === 'master' ? null : caller.accountId;
    this.beginning++;
    try {
      await this.requireRoom(this.beginning);
      const process = await this.ownership.own();
      const lastPort = await this.servers.start(id, model, signal);
      const deployment = { id, ...model, createdBy, createdAt: this.clock.now(), lastPort, process };
      await this.keep(deployment, caller, signal);
      return this.views.of(deployment);
    } finally {
      this.beginning--;
    }
  }

  private async keep(deployment: Deployment, by: Caller, signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted();
      const details = { model_path: deployment.modelPath };
      await this.audit.perform({ by, action: 'deployment.created', object: deployment, details }, async () => {
        await this.requireRoom(1);
        await this.deployments.add(deployment);
      });
      this.tending.hold(deployment.id);
    } catch (error) {
      await this.servers.stop(deployment.id);
      throw error;
    }
  }

  private async requireRoom(wanted: number): Promise<void> {
    const { deployments: most } = deploymentLimits;
    if ((await this.deployments.count()) + wanted > most) throw new TooManyDeployments(most);
  }
}
