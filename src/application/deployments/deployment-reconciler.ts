import { injectable } from 'inversify';
import { Logger } from '../shared/ports.js';
import { DeploymentRepository, ModelServer } from './ports.js';

/** Makes the serving processes of this instance match the stored deployments. */
@injectable()
export class DeploymentReconciler {
  /** Holds the deployments that were stored when this instance last looked. */
  private readonly held = new Set<string>();
  /** The last pass over the stored deployments; settled when that has ended. */
  private pass: Promise<void> = Promise.resolve();

  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly servers: ModelServer,
    private readonly logger: Logger,
  ) {}

  /** Takes note of a deployment that was started here and is stored now. */
  hold(id: string): void {
    this.held.add(id);
  }

  /** Begins to start the processes that are missing here, and to stop those of deleted deployments. */
  applyAll(): Promise<void> {
    const pass = this.pass.catch(() => undefined).then(() => this.reconcile());
    this.pass = pass;
    return pass;
  }

  /** Resolves once the process of a deleted deployment is gone here. */
  async stop(id: string): Promise<void> {
    await this.pass.catch(() => undefined); // a pass that read the row before its deletion would start the process again
    await this.end(id);
  }

  /** Returns whether the process of a stored deployment still loads here. */
  async isLoading(): Promise<boolean> {
    const stored = await this.deployments.all();
    const states = await Promise.all(stored.map(({ id }) => this.servers.probe(id)));
    return states.some(({ status }) => status === 'starting');
  }

  private async reconcile(): Promise<void> {
    const held = [...this.held]; // all of them were stored before the table is read
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
