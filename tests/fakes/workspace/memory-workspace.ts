import type { Page, SizedItem, VersionPage } from '../../../src/application/shared/ports.js';
import type {
  DatasetRepository,
  DatasetVersionEntry,
  ModelAliasRepository,
  ModelRepository,
  ModelVersionEntry,
  ProjectFilter,
  ProjectRepository,
  ProjectVersionEntry,
} from '../../../src/application/workspace/ports.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import { Dataset, type DatasetRecord, type DatasetVersion } from '../../../src/domain/workspace/dataset.js';
import { Model, type ModelVersion } from '../../../src/domain/workspace/model.js';
import type { AliasChange, LivingAlias } from '../../../src/domain/workspace/model-alias.js';
import { Project, type ProjectVersion } from '../../../src/domain/workspace/project.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable, sizeOf } from '../memory-table.js';

/** The tables whose rows are removed with their project. */
const OWNED = [
  'datasets',
  'dataset_versions',
  'models',
  'model_versions',
  'model_aliases',
  'conversations',
  'runtime_connections',
  'evaluations',
] as const;

export class MemoryProjectRepository implements ProjectRepository {
  private readonly projects;
  private readonly history;

  constructor(private readonly store: MemoryStore) {
    this.projects = new MemoryTable<Project>(store, 'projects');
    this.history = new Versions<ProjectVersion>(store, 'project_versions');
  }

  async add(project: Project): Promise<void> {
    this.projects.put(project.id, project);
    this.history.add(project.id, project, Project.versionOf(project));
  }

  async find(teamId: string, id: string): Promise<Project | null> {
    const project = this.projects.get(id);
    return project?.teamId === teamId ? project : null;
  }

  async all({ teamId }: ProjectFilter, page: Page): Promise<Project[]> {
    return this.projects.newest((one) => one.teamId === teamId, page);
  }

  async sizes(filter: ProjectFilter, page: Page): Promise<SizedItem[]> {
    return (await this.all(filter, page)).map(({ id, spec }) => sizeOf(id, spec));
  }

  async names(teamId: string, limit: number): Promise<Pick<Project, 'id' | 'name'>[]> {
    return (await this.all({ teamId }, { limit, after: null })).map(({ id, name }) => ({ id, name }));
  }

  async replace({ id, version }: Project, next: Project): Promise<boolean> {
    const stored = this.projects.get(id);
    if (stored?.version !== version) return false;
    await this.add({ ...next, reviewedVersion: stored.reviewedVersion });
    return true;
  }

  async noteReview({ id, version, reviewedVersion }: Parameters<ProjectRepository['noteReview']>[0]): Promise<boolean> {
    const stored = this.projects.get(id);
    if (stored?.version !== version) return false;
    this.projects.put(id, { ...stored, reviewedVersion });
    return true;
  }

  async remove({ id, version }: Parameters<ProjectRepository['remove']>[0]): Promise<boolean> {
    if (this.projects.get(id)?.version !== version) return false;
    this.history.remove(id);
    for (const name of OWNED)
      new MemoryTable<{ readonly projectId: string }>(this.store, name).removeAll(({ projectId }) => projectId === id);
    return this.projects.remove(id);
  }

  async versions(id: string, page: VersionPage): Promise<ProjectVersionEntry[]> {
    return this.history.page(id, page).map(({ spec: _, ...entry }) => entry);
  }

  async version(id: string, version: number): Promise<ProjectVersion | null> {
    return this.history.find(id, version);
  }
}

export class MemoryModelRepository implements ModelRepository {
  private readonly projects;
  private readonly models;
  private readonly history;

  constructor(store: MemoryStore) {
    this.projects = new MemoryTable<Project>(store, 'projects');
    this.models = new MemoryTable<Model>(store, 'models');
    this.history = new Versions<ModelVersion>(store, 'model_versions');
  }

  async addOnce(model: Model): Promise<Model> {
    const { projectId, requestId } = model;
    if (!this.projects.get(projectId)) throw new NotFound('project');
    const stored = this.models.find((one) => one.projectId === projectId && one.requestId === requestId);
    if (!stored) this.put(model);
    return stored ?? model;
  }

  async find(projectId: string, id: string): Promise<Model | null> {
    const model = this.models.get(id);
    return model?.projectId === projectId ? model : null;
  }

  async all(projectId: string, page: Page): Promise<Model[]> {
    return this.models.newest((one) => one.projectId === projectId, page);
  }

  async sizes(projectId: string, page: Page): Promise<SizedItem[]> {
    return (await this.all(projectId, page)).map(({ id, spec }) => sizeOf(id, spec));
  }

  async registered(projectIds: readonly string[]): Promise<Model[]> {
    return this.models.newest((one) => projectIds.includes(one.projectId) && one.state === 'registered');
  }

  async registeredBytes(projectIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const all = new Map<string, number>();
    for (const { id, projectId, spec } of await this.registered(projectIds))
      all.set(projectId, (all.get(projectId) ?? 0) + sizeOf(id, spec).bytes);
    return all;
  }

  async replace(current: Model, next: Model): Promise<boolean> {
    const isCurrent = isStored(this.models, current);
    if (isCurrent) this.put(next);
    return isCurrent;
  }

  async remove(current: Model): Promise<boolean> {
    if (!isStored(this.models, current)) return false;
    this.history.remove(current.id);
    return this.models.remove(current.id);
  }

  async versions(id: string, page: VersionPage): Promise<ModelVersionEntry[]> {
    return this.history.page(id, page).map(({ spec: _, ...entry }) => entry);
  }

  async version(id: string, version: number): Promise<ModelVersion | null> {
    return this.history.find(id, version);
  }

  private put(model: Model): void {
    this.models.put(model.id, model);
    this.history.add(model.projectId, model, Model.versionOf(model));
  }
}

export class MemoryModelAliasRepository implements ModelAliasRepository {
  private readonly changes;
  private readonly models;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.changes = new MemoryTable<AliasChange>(store, 'model_aliases');
    this.models = new MemoryTable<Model>(store, 'models');
    this.projects = new MemoryTable<Project>(store, 'projects');
  }

  async append(change: AliasChange): Promise<boolean> {
    const { projectId, alias, version, modelId } = change;
    const key = `${projectId} ${alias} ${version}`;
    if (this.changes.get(key)) return false;
    if (!this.projects.get(projectId) || (modelId !== null && !this.models.get(modelId))) throw new NotFound('model');
    this.changes.put(key, change);
    return true;
  }

  async history(projectId: string, alias: string, limit: number): Promise<AliasChange[]> {
    const own = this.changes.all().filter((one) => one.projectId === projectId && one.alias === alias);
    return own.sort((a, b) => b.version - a.version).slice(0, limit);
  }

  async living(projectId: string): Promise<LivingAlias[]> {
    const last = new Map<string, AliasChange>();
    for (const one of this.changes.all()) {
      const isNewer = one.version > (last.get(one.alias)?.version ?? 0);
      if (one.projectId === projectId && isNewer) last.set(one.alias, one);
    }
    const living = [...last.values()].filter((one): one is LivingAlias => one.modelId !== null);
    return living.sort((a, b) => b.changedAt.getTime() - a.changedAt.getTime() || (a.alias < b.alias ? -1 : 1));
  }
}

type FullVersion = DatasetVersion & { readonly records: readonly DatasetRecord[] };

export class MemoryDatasetRepository implements DatasetRepository {
  private readonly projects;
  private readonly datasets;
  private readonly history;

  constructor(store: MemoryStore) {
    this.projects = new MemoryTable<Project>(store, 'projects');
    this.datasets = new MemoryTable<Dataset>(store, 'datasets');
    this.history = new Versions<FullVersion>(store, 'dataset_versions');
  }

  async add(dataset: Dataset, records: readonly DatasetRecord[]): Promise<void> {
    if (!this.projects.get(dataset.projectId)) throw new NotFound('project');
    this.put(dataset, records);
  }

  async find(projectId: string, id: string): Promise<Dataset | null> {
    const dataset = this.datasets.get(id);
    return dataset?.projectId === projectId ? dataset : null;
  }

  async all(projectId: string, page: Page): Promise<Dataset[]> {
    return this.datasets.newest((one) => one.projectId === projectId, page);
  }

  async records(id: string, version: number): Promise<readonly DatasetRecord[] | null> {
    return this.history.find(id, version)?.records ?? null;
  }

  async replace(current: Dataset, next: Dataset, records: readonly DatasetRecord[] | null): Promise<boolean> {
    if (!isStored(this.datasets, current)) return false;
    this.put(next, records ?? this.history.find(current.id, current.version)?.records ?? []);
    return true;
  }

  async remove(current: Dataset): Promise<boolean> {
    if (current.state !== 'editable' || !isStored(this.datasets, current)) return false;
    this.history.remove(current.id);
    return this.datasets.remove(current.id);
  }

  async versions(id: string, page: VersionPage): Promise<DatasetVersionEntry[]> {
    return this.history.page(id, page).map(({ bytes: _, validation: __, records: ___, ...entry }) => entry);
  }

  async version(id: string, version: number): Promise<DatasetVersion | null> {
    const found = this.history.find(id, version);
    if (!found) return null;
    const { records: _, ...kept } = found;
    return kept;
  }

  async prune(id: string, oldest: number): Promise<void> {
    this.history.prune(id, oldest);
  }

  private put(dataset: Dataset, records: readonly DatasetRecord[]): void {
    this.datasets.put(dataset.id, dataset);
    this.history.add(dataset.projectId, dataset, { ...Dataset.versionOf(dataset), records });
  }
}

/** Stores the versions of projects, models or datasets. */
class Versions<Version extends { readonly version: number }> {
  private readonly table;

  constructor(store: MemoryStore, name: string) {
    this.table = new MemoryTable<{ readonly projectId: string; readonly versions: readonly Version[] }>(store, name);
  }

  /** Adds a version. Does nothing if the object has it already. */
  add(projectId: string, { id }: { readonly id: string }, version: Version): void {
    if (this.find(id, version.version)) return;
    this.table.put(id, { projectId, versions: [version, ...this.all(id)] });
  }

  page(id: string, { limit, before }: VersionPage): Version[] {
    return this.all(id)
      .filter(({ version }) => before === null || version < before)
      .slice(0, limit);
  }

  find(id: string, version: number): Version | null {
    return this.all(id).find((one) => one.version === version) ?? null;
  }

  remove(id: string): void {
    this.table.remove(id);
  }

  prune(id: string, oldest: number): void {
    const kept = this.table.get(id);
    if (kept) this.table.put(id, { ...kept, versions: kept.versions.filter(({ version }) => version >= oldest) });
  }

  private all(id: string): readonly Version[] {
    return this.table.get(id)?.versions ?? [];
  }
}

interface Versioned {
  readonly id: string;
  readonly version: number;
  readonly state: string;
}

function isStored(table: MemoryTable<Versioned>, { id, version, state }: Versioned): boolean {
  const stored = table.get(id);
  return stored?.version === version && stored.state === state;
}
