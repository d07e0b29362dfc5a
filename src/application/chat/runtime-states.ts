import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { ChatRuntimes } from './ports/chat-runtimes.js';
import type { RuntimeConnection, RuntimeConnections } from './ports/runtime-connections.js';
import type { SettleRuntime } from './settle-runtime.js';

/** What a project's runtime is right now: what is stored of it, and what runs. */
export class RuntimeStates {
  constructor(
    private readonly connections: RuntimeConnections,
    private readonly runtimes: ChatRuntimes,
    private readonly runtime: SettleRuntime,
  ) {}

  async of(projectId: string): Promise<ProjectRuntime> {
    return this.judge(projectId, await this.connections.find(projectId));
  }

  /** By a single question, since every chat asks it. Throws NotFound where the team has no such project. */
  async ofTeam(teamId: string, projectId: string): Promise<ProjectRuntime> {
    const found = await this.connections.ofTeam(teamId, projectId);
    if (!found) throw new NotFound('project');
    return this.judge(projectId, found.connection);
  }

  /** In the order of the projects. */
  async ofAll(projectIds: readonly string[]): Promise<ProjectRuntime[]> {
    const connections = new Map((await this.connections.ofProjects(projectIds)).map((one) => [one.projectId, one]));
    return projectIds.map((id) => this.judge(id, connections.get(id) ?? null));
  }

  private judge(projectId: string, connection: RuntimeConnection | null): ProjectRuntime {
    const { state, reason } = this.runtimes.status(projectId);
    if (connection?.wanted !== 'started') {
      if (state !== 'stopped') this.settle(projectId);
      return { state: connection ? 'stopped' : 'not_connected', modelId: connection?.modelId ?? null, reason: null };
    }
    const { modelId } = connection;
    if (state !== 'stopped') return { modelId, state, reason };
    if (this.runtime.isSettling(projectId)) return { modelId, state: 'loading', reason: null };
    const why = this.runtime.failure(projectId) ?? 'it was started by another process of the service';
    return { modelId, state: 'unavailable', reason: why };
  }

  /** Another process has changed the connection, and the one that runs here does not know yet. */
  private settle(projectId: string): void {
    if (!this.runtime.isSettling(projectId)) this.runtime.execute(projectId).catch(() => undefined);
  }
}
