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

  async save({ projectId, modelId, wanted }: Omit<RuntimeConnection, 'process'>): Promise<void> {
    const process = this.rows.get(projectId)?.process ?? null;
    this.rows.put(projectId, { projectId, modelId, wanted, process });
  }

  async want(projectId: string, wanted: RuntimeConnection['wanted']): Promise<boolean> {
    const connection = this.rows.get(projectId);
    if (connection) this.rows.put(projectId, { ...connection, wanted });
    return connection !== null;
  }

  async claim(projectId: string, from: number | null, to: number | null): Promise<RuntimeConnection | null> {
    const connection = this.rows.get(projectId);
    if (connection?.process !== from) return null;
    const claimed = { ...connection, process: to };
    this.rows.put(projectId, claimed);
    return claimed;
  }

  async release(process: number): Promise<void> {
    const own = this.rows.all().filter((connection) => connection.process === process);
    for (const connection of own) this.rows.put(connection.projectId, { ...connection, process: null });
  }

  async remove(projectId: string): Promise<boolean> {
    return this.rows.remove(projectId);
  }

  async started(): Promise<RuntimeConnection[]> {
    return this.rows.all().filter(({ wanted }) => wanted === 'started');
  }
}
