import { injectable } from 'inversify';
import { Ownership } from '../processes/ownership.js';
import { DeploymentRepository, ModelServer } from './ports.js';

/**
 * Done at the start of the service and every few seconds: runs here what belongs to this process, and nothing else. What
 * belongs to nobody, or to a process that has ended, is taken by one of those that live.
 */
@injectable()
export class TendDeployments {
  /** Those that run here and were stored as this process's. */
  private readonly held = new Set<string>();

  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly servers: ModelServer,
    private readonly ownership: Ownership,
  ) {}

  /** One that was started here is stored now. */
  hold(id: string): void {
    this.held.add(id);
  }

  /** Without waiting for any of those that it brings up. */
  async execute(): Promise<void> {
    const before = [...this.held]; // all of them were stored when the table is read
    const [own, all] = [await this.ownership.own(), await this.deployments.all()];
    const mine = new Set(all.filter(({ process }) => process === own).map(({ id }) => id));
    await Promise.all(before.filter((id) => !mine.has(id)).map((id) => this.drop(id)));
    const running = new Set(this.servers.ids());
    const free = await this.ownership.free(all.map(({ process }) => process));
    for (const { id, process, ...model } of all) {
      // What is its own and does not run was claimed by it, and the answer was lost.
      const lost = process === own && !this.held.has(id) && !running.has(id);
      if (!lost && !(free.has(process) && (await this.deployments.claim(id, process, own)))) continue;
      this.hold(id);
      this.servers.resume(id, model);
    }
  }

  /** Ends the process of one that is gone, or another's by now. */
  async settle(id: string): Promise<void> {
    const deployment = await this.deployments.find(id);
    if (deployment?.process !== (await this.ownership.own())) await this.drop(id);
  }

  /** What is this process's others may take. To be called when nothing runs here any more. */
  async release(): Promise<void> {
    await this.deployments.release(await this.ownership.own());
  }

  private async drop(id: string): Promise<void> {
    if (!this.held.has(id)) return;
    await this.servers.stop(id);
    this.held.delete(id);
  }
}
