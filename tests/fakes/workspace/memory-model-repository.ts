import type { ModelRepository } from '../../../src/application/workspace/ports.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import type { Model, ModelVersion } from '../../../src/domain/workspace/model.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

interface Kept {
  readonly projectId: string;
  readonly model: Model;
  /** By their numbers. */
  readonly versions: readonly ModelVersion[];
}

export const modelRows = (store: MemoryStore) => new MemoryTable<Kept>(store, 'models');

export class MemoryModelRepository implements ModelRepository {
  private readonly rows;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.rows = modelRows(store);
    this.projects = new MemoryTable<Project>(store, 'projects');
  }

  async addOnce(model: Model): Promise<Model> {
    const { projectId, requestId } = model;
    if (!this.projects.get(projectId)) throw new NotFound('project');
    const known = this.rows.find((one) => one.projectId === projectId && one.model.requestId === requestId);
    if (!known) this.put(model);
    return known?.model ?? model;
  }

  async find(projectId: string, id: string): Promise<Model | null> {
    const kept = this.rows.get(id);
    return kept?.projectId === projectId ? kept.model : null;
  }

  async all(projectId: string, { limit, after }: Parameters<ModelRepository['all']>[1]): Promise<Model[]> {
    const models = this.newest((one) => one.projectId === projectId && (after === null || one.id < after));
    return models.slice(0, limit);
  }

  async registered(projectIds: readonly string[]): Promise<Model[]> {
    return this.newest((one) => projectIds.includes(one.projectId) && one.state === 'registered');
  }

  async replace(current: Model, next: Model): Promise<boolean> {
    const isCurrent = this.isStored(current);
    if (isCurrent) this.put({ ...next, id: current.id });
    return isCurrent;
  }

  async remove(current: Model): Promise<boolean> {
    return this.isStored(current) && this.rows.remove(current.id);
  }

  async versions(modelId: string, { limit, before }: Parameters<ModelRepository['versions']>[1]) {
    const all = this.rows.get(modelId)?.versions ?? [];
    return all
      .filter(({ version }) => before === null || version < before)
      .map(({ spec: _, ...version }) => version)
      .reverse()
      .slice(0, limit);
  }

  async version(modelId: string, version: number): Promise<ModelVersion | null> {
    return this.rows.get(modelId)?.versions.find((one) => one.version === version) ?? null;
  }

  private put(model: Model): void {
    const { id, projectId, version, spec, updatedBy: createdBy, updatedAt: createdAt } = model;
    const earlier = this.rows.get(id)?.versions ?? [];
    const isNew = earlier.at(-1)?.version !== version;
    const versions = isNew ? [...earlier, { modelId: id, version, spec, createdBy, createdAt }] : earlier;
    this.rows.put(id, { projectId, model, versions });
  }

  private isStored({ id, version, state }: Model): boolean {
    const stored = this.rows.get(id)?.model;
    return stored?.version === version && stored.state === state;
  }

  private newest(holds: (model: Model) => boolean): Model[] {
    const models = this.rows.all().map(({ model }) => model);
    return models.filter(holds).sort((a, b) => (a.id < b.id ? 1 : -1));
  }
}
