import type { ProjectRepository, ProjectVersionEntry } from '../../../src/application/workspace/ports.js';
import type { Project, ProjectVersion } from '../../../src/domain/workspace/project.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

/** What goes with its project. */
const OWNED = ['datasets', 'models', 'model_aliases', 'conversations', 'evaluations'];

export class MemoryProjectRepository implements ProjectRepository {
  private readonly rows;
  private readonly history;

  constructor(private readonly store: MemoryStore) {
    this.rows = new MemoryTable<Project>(store, 'projects');
    this.history = new MemoryTable<readonly ProjectVersion[]>(store, 'project_versions');
  }

  async add(project: Project): Promise<void> {
    this.put(project);
  }

  async find(teamId: string, id: string): Promise<Project | null> {
    const project = this.rows.get(id);
    return project?.teamId === teamId ? project : null;
  }

  async all(teamId: string, { limit, after }: Parameters<ProjectRepository['all']>[1]): Promise<Project[]> {
    const own = this.rows.all().filter((one) => one.teamId === teamId && (after === null || one.id < after));
    return own.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
  }

  async names(teamId: string, limit: number): Promise<Pick<Project, 'id' | 'name'>[]> {
    const newest = await this.all(teamId, { limit, after: null });
    return newest.map(({ id, name }) => ({ id, name }));
  }

  async replace({ id, version }: Project, next: Project): Promise<boolean> {
    const stored = this.rows.get(id);
    if (stored?.version !== version) return false;
    this.put({ ...next, id, reviewedVersion: stored.reviewedVersion });
    return true;
  }

  async noteReview({ id, version, reviewedVersion }: Parameters<ProjectRepository['noteReview']>[0]): Promise<boolean> {
    const stored = this.rows.get(id);
    if (stored?.version !== version) return false;
    this.rows.put(id, { ...stored, reviewedVersion });
    return true;
  }

  async remove({ id, version }: Parameters<ProjectRepository['remove']>[0]): Promise<boolean> {
    if (this.rows.get(id)?.version !== version) return false;
    this.history.remove(id);
    for (const table of OWNED)
      new MemoryTable<{ readonly projectId: string }>(this.store, table).removeAll(({ projectId }) => projectId === id);
    return this.rows.remove(id);
  }

  async versions(
    id: string,
    { limit, before }: Parameters<ProjectRepository['versions']>[1],
  ): Promise<ProjectVersionEntry[]> {
    const all = (this.history.get(id) ?? []).filter(({ version }) => before === null || version < before);
    return all
      .map(({ spec: _, ...entry }) => entry)
      .reverse()
      .slice(0, limit);
  }

  async version(id: string, version: number): Promise<ProjectVersion | null> {
    return this.history.get(id)?.find((one) => one.version === version) ?? null;
  }

  private put(project: Project): void {
    const { id, version, name, spec, updatedBy: createdBy, updatedAt: createdAt } = project;
    this.rows.put(id, project);
    this.history.put(id, [...(this.history.get(id) ?? []), { version, name, spec, createdBy, createdAt }]);
  }
}
