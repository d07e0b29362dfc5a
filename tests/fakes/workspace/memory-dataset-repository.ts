import type { DatasetRepository, DatasetVersionEntry } from '../../../src/application/workspace/ports.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import type { Dataset, DatasetVersion } from '../../../src/domain/workspace/dataset.js';
import type { DatasetRecord } from '../../../src/domain/workspace/dataset-record.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

interface Kept {
  readonly projectId: string;
  readonly dataset: Dataset;
  /** By their numbers. */
  readonly versions: readonly { readonly version: DatasetVersion; readonly records: readonly DatasetRecord[] }[];
}

export class MemoryDatasetRepository implements DatasetRepository {
  private readonly rows;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Kept>(store, 'datasets');
    this.projects = new MemoryTable<Project>(store, 'projects');
  }

  async add(dataset: Dataset, records: readonly DatasetRecord[]): Promise<void> {
    if (!this.projects.get(dataset.projectId)) throw new NotFound('project');
    this.put(dataset, records);
  }

  async find(projectId: string, id: string): Promise<Dataset | null> {
    const kept = this.rows.get(id);
    return kept?.projectId === projectId ? kept.dataset : null;
  }

  async all(projectId: string, { limit, after }: Parameters<DatasetRepository['all']>[1]): Promise<Dataset[]> {
    const datasets = this.rows.all().map(({ dataset }) => dataset);
    const own = datasets.filter((one) => one.projectId === projectId && (after === null || one.id < after));
    return own.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
  }

  async records(id: string, version: number): Promise<readonly DatasetRecord[] | null> {
    return this.kept(id, version)?.records ?? null;
  }

  async replace(current: Dataset, next: Dataset, records: readonly DatasetRecord[] | null): Promise<boolean> {
    const { id, version } = current;
    const isCurrent = this.isStored(current);
    if (isCurrent) this.put({ ...next, id }, records ?? this.kept(id, version)?.records ?? []);
    return isCurrent;
  }

  async versions(
    id: string,
    { limit, before }: Parameters<DatasetRepository['versions']>[1],
  ): Promise<DatasetVersionEntry[]> {
    const all = (this.rows.get(id)?.versions ?? []).map(({ version: { validation: _, ...entry } }) => entry);
    return all
      .filter(({ version }) => before === null || version < before)
      .reverse()
      .slice(0, limit);
  }

  async version(id: string, version: number): Promise<DatasetVersion | null> {
    return this.kept(id, version)?.version ?? null;
  }

  async remove(current: Dataset): Promise<boolean> {
    return current.state === 'editable' && this.isStored(current) && this.rows.remove(current.id);
  }

  private kept(id: string, version: number) {
    return this.rows.get(id)?.versions.find((one) => one.version.version === version);
  }

  private put(dataset: Dataset, records: readonly DatasetRecord[]): void {
    const { id, projectId, version, name, recordCount, contentSha256, validation, updatedBy, updatedAt } = dataset;
    const content = { recordCount, contentSha256, validation };
    const made = { datasetId: id, version, name, ...content, createdBy: updatedBy, createdAt: updatedAt };
    const earlier = this.rows.get(id)?.versions ?? [];
    const versions = this.kept(id, version) ? earlier : [...earlier, { version: made, records }];
    this.rows.put(id, { projectId, dataset, versions });
  }

  private isStored({ id, version, state }: Dataset): boolean {
    const stored = this.rows.get(id)?.dataset;
    return stored?.version === version && stored.state === state;
  }
}
