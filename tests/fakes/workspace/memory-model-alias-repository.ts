import type { ModelAliasRepository } from '../../../src/application/workspace/ports.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import type { AliasChange, LivingAlias } from '../../../src/domain/workspace/model-alias.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';
import { modelRows } from './memory-model-repository.js';

export class MemoryModelAliasRepository implements ModelAliasRepository {
  private readonly rows;
  private readonly models;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<AliasChange>(store, 'model_aliases');
    this.models = modelRows(store);
    this.projects = new MemoryTable<Project>(store, 'projects');
  }

  async append(change: AliasChange): Promise<boolean> {
    const { projectId, alias, version, modelId } = change;
    const key = `${projectId} ${alias} ${version}`;
    if (this.rows.get(key)) return false;
    if (!this.projects.get(projectId)) throw new NotFound('project');
    if (modelId !== null && !this.models.get(modelId)) throw new NotFound('model');
    this.rows.put(key, change);
    return true;
  }

  async history(projectId: string, alias: string, most: number): Promise<AliasChange[]> {
    const own = this.rows.all().filter((one) => one.projectId === projectId && one.alias === alias);
    return own.sort((a, b) => b.version - a.version).slice(0, most);
  }

  async living(projectId: string): Promise<LivingAlias[]> {
    const last = new Map<string, AliasChange>();
    for (const one of this.rows.all()) {
      const newer = one.version > (last.get(one.alias)?.version ?? 0);
      if (one.projectId === projectId && newer) last.set(one.alias, one);
    }
    const living = [...last.values()].filter((one): one is LivingAlias => one.modelId !== null);
    return living.sort((a, b) => b.changedAt.getTime() - a.changedAt.getTime() || (a.alias < b.alias ? -1 : 1));
  }
}
