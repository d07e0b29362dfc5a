import type {
  ConnectedProject,
  RuntimeConnection,
  RuntimeConnectionRepository,
} from '../../../src/application/chat/ports.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryRuntimeConnectionRepository implements RuntimeConnectionRepository {
  private readonly rows;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.projects = new MemoryTable<Project>(store, 'projects');
    this.rows = new MemoryTable<RuntimeConnection>(store, 'runtime_connections');
  }

  async find(projectId: string): Promise<RuntimeConnection | null> {
    return this.rows.get(projectId);
  }

  async ofProject(projectId: string): Promise<ConnectedProject | null> {
    const project = this.projects.get(projectId);
    return project && { teamId: project.teamId, connection: this.rows.get(projectId) };
  }

  async ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]> {
    return this.rows.all().filter(({ projectId }) => projectIds.includes(projectId));
  }

  async save(connection: RuntimeConnection): Promise<void> {
    this.rows.put(connection.projectId, connection);
  }

  async setDesired(projectId: string, desired: RuntimeConnection['desired']): Promise<boolean> {
    const connection = this.rows.get(projectId);
    if (connection) this.rows.put(projectId, { ...connection, desired });
    return connection !== null;
  }

  async remove(projectId: string): Promise<boolean> {
    return this.rows.remove(projectId);
  }

  async started(): Promise<RuntimeConnection[]> {
    return this.rows.all().filter(({ desired }) => desired === 'started');
  }
}
