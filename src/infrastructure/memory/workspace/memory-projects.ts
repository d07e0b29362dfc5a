import type { Projects } from '../../../application/workspace/ports/projects.js';
import type { Project } from '../../../domain/workspace/project.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryProjects implements Projects {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Project>(store, 'projects');
  }

  async add(project: Project): Promise<void> {
    this.rows.put(project.id, project);
  }

  async find(teamId: string, id: string): Promise<Project | null> {
    const project = this.rows.get(id);
    return project?.teamId === teamId ? project : null;
  }

  async replace({ id, version }: Project, next: Project): Promise<boolean> {
    if (this.rows.get(id)?.version !== version) return false;
    this.rows.put(id, { ...next, id });
    return true;
  }
}
