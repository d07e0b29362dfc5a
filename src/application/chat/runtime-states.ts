import { injectable } from 'inversify';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { NotFound } from '../../domain/shared/errors.js';
import { type RuntimeConnection, RuntimeConnectionRepository } from './ports.js';
import { RuntimeReconciler } from './runtime-reconciler.js';

/** Combines the desired state of runtimes with their state on this instance. */
@injectable()
export class RuntimeStates {
  constructor(
    private readonly connections: RuntimeConnectionRepository,
    private readonly reconciler: RuntimeReconciler,
  ) {}

  async of(projectId: string): Promise<ProjectRuntime> {
    return this.state(await this.connections.find(projectId));
  }

  /** Returns the runtimes in the order of the projects. */
  async ofAll(projectIds: readonly string[]): Promise<ProjectRuntime[]> {
    const connections = new Map((await this.connections.ofProjects(projectIds)).map((one) => [one.projectId, one]));
    return projectIds.map((id) => this.state(connections.get(id) ?? null));
  }

  /** Throws NotFound when the team has no such project. */
  async ofTeam(teamId: string, projectId: string): Promise<ProjectRuntime> {
    const found = await this.connections.ofProject(projectId);
    if (found?.teamId !== teamId) throw new NotFound('project');
    return this.state(found.connection);
  }

  private state(connection: RuntimeConnection | null): ProjectRuntime {
    if (!connection) return { state: 'not_connected', modelId: null, reason: null };
    const { modelId } = connection;
    if (connection.desired === 'stopped') return { state: 'stopped', modelId, reason: null };
    return { modelId, ...this.reconciler.status(connection) };
  }
}
