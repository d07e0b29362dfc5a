import type { DeploymentRepository } from '../../../src/application/deployments/ports.js';
import type { Deployment } from '../../../src/domain/deployments/deployment.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryDeploymentRepository implements DeploymentRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Deployment>(store, 'deployments');
  }

  async add(deployment: Deployment): Promise<void> {
    this.rows.put(deployment.id, deployment);
  }

  async find(id: string): Promise<Deployment | null> {
    return this.rows.get(id);
  }

  async all(): Promise<Deployment[]> {
    return this.rows.all().sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async count(): Promise<number> {
    return this.rows.all().length;
  }

  async remove(id: string): Promise<boolean> {
    return this.rows.remove(id);
  }
}
