import type { Models } from '../../../application/workspace/ports/models.js';
import type { Model } from '../../../domain/workspace/model.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryModels implements Models {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Model>(store, 'models');
  }

  async addOnce(model: Model): Promise<Model> {
    const { projectId, requestId } = model;
    const known = this.rows.find((one) => one.projectId === projectId && one.requestId === requestId);
    if (!known) this.rows.put(model.id, model);
    return known ?? model;
  }

  async find(projectId: string, id: string): Promise<Model | null> {
    const model = this.rows.get(id);
    return model?.projectId === projectId ? model : null;
  }

  async registered(projectIds: readonly string[]): Promise<Model[]> {
    const models = this.rows.all().filter((one) => projectIds.includes(one.projectId) && one.state === 'registered');
    return models.sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async replace({ id, version, state }: Model, next: Model): Promise<boolean> {
    const stored = this.rows.get(id);
    if (stored?.version !== version || stored.state !== state) return false;
    this.rows.put(id, { ...next, id });
    return true;
  }
}
