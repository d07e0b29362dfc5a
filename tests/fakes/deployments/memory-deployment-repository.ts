import type { DeploymentRepository } from '../../../src/application/deployments/ports.js';
import type { Deployment } from '../../../src/domain/deployments/deployment.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryDeploymentRepository implements DeploymentRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Deployment>(store, 'deployments');
  }

  add = async (deployment: Deployment) => this.rows.put(deployment.id, deployment);

  find = async (id: string) => this.rows.get(id);

  all = async () => this.rows.newest(() => true);

  count = async () => this.rows.all().length;

  remove = async (id: string) => this.rows.remove(id);
}
