import { injectable } from 'inversify';
import { Logger } from '../shared/ports.js';
import { DeploymentRepository, ModelServer } from './ports.js';

/** Starts and stops models, so that this instance serves exactly the stored deployments. */
@injectable()
export class DeploymentReconciler {
  /** The ids of the stored deployments that this instance knows. A deleted one stays until its process has ended. */
  private readonly held = new Set<string>();
  /** Settles when the last pass over the stored deployments ends. */
  private pass: Promise<void> = Promise.resolve();

  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly servers: ModelServer,
    private readonly logger: Logger,
  ) {}

  /** Remembers that a deployment, which this instance serves or will serve, is stored. */
  hold(id: string): void {
    this.held.add(id);
  }

  /** Begins to serve the stored deployments that this instance does not serve, and to stop the deleted ones. */
  applyAll(): Promise<void> {
    const pass = this.pass.catch(() => undefined).then(() => this.reconcile());
    this.pass = pass;
    return pass;
  }

  /** Stops a deleted deployment. Resolves when its process on this instance has ended. */
  async stop(id: string): Promise<void> {
    // A pass that read the row before its deletion would start the process again.
    await this.pass.catch(() => undefined);
    await this.end(id);
  }

  /** Tells whether a stored deployment is still being loaded on this instance. */
  async isLoading(): Promise<boolean> {
    const stored = await this.deployments.all();
    const states = await Promise.all(stored.map(({ id }) => this.servers.probe(id)));
    return states.some(({ status }) => status === 'starting');
  }

  private async reconcile(): Promise<void> {
    const held = [...this.held]; // copied before the table is read, so a missing id was deleted
    const stored = await this.deployments.all();
    const desired = new Set(stored.map(({ id }) => id));
    for (const id of held.filter((id) => !desired.has(id)))
      this.end(id).catch((error: unknown) => this.logger.error('deployment not stopped', { deployment: id, error }));
    const running = new Set(this.servers.ids());
    for (const { id, ...model } of stored) {
      if (running.has(id)) continue;
      this.hold(id);
      this.servers.resume(id, model);
    }
  }

  private async end(id: string): Promise<void> {
    await this.servers.stop(id);
    this.held.delete(id);
  }
}
