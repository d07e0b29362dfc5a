import { port } from '../../shared/port.js';

/** Which model is a project's runtime, and whether the team wants it to run. */
export interface RuntimeConnection {
  readonly projectId: string;
  readonly modelId: string;
  readonly wanted: 'started' | 'stopped';
}

export interface RuntimeConnections {
  find(projectId: string): Promise<RuntimeConnection | null>;
  /** That of a project of the team, where it has one; null where the team has no such project. */
  ofTeam(teamId: string, projectId: string): Promise<{ connection: RuntimeConnection | null } | null>;
  /** Those of the projects named, in any order. */
  ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]>;
  /** Inserts or replaces the project's only connection. */
  save(connection: RuntimeConnection): Promise<void>;
  /** Changes what is wanted of a connection, whichever model it has by now; false when there is none. */
  want(projectId: string, wanted: RuntimeConnection['wanted']): Promise<boolean>;
  /** False when there is none. */
  remove(projectId: string): Promise<boolean>;
  /** All connections that are wanted `started`, of every team. */
  started(): Promise<RuntimeConnection[]>;
}
export const RuntimeConnections = port<RuntimeConnections>('chat.RuntimeConnections');
