import { port } from '../../shared/port.js';

/** Which model is a project's runtime, whether the team wants it to run, and where it does. */
export interface RuntimeConnection {
  readonly projectId: string;
  readonly modelId: string;
  readonly wanted: 'started' | 'stopped';
  /** The number of the process of the service whose it is; null: nobody's just now. */
  readonly process: number | null;
}

export interface ConnectedProject {
  readonly teamId: string;
  readonly connection: RuntimeConnection | null;
}

export interface RuntimeConnections {
  find(projectId: string): Promise<RuntimeConnection | null>;
  /** Whose a project is, and its connection, where it has one; null where there is no such project. */
  ofProject(projectId: string): Promise<ConnectedProject | null>;
  /** Those of the projects named, in any order. */
  ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]>;
  /** Inserts the project's only connection, nobody's at first, or replaces it and leaves it whose it is. */
  save(connection: Omit<RuntimeConnection, 'process'>): Promise<void>;
  /** Changes what is wanted of a connection, whichever model it has by now; false when there is none. */
  want(projectId: string, wanted: RuntimeConnection['wanted']): Promise<boolean>;
  /**
   * Makes it `to`'s where it is `from`'s, and gives it back as it is at that moment; of any number who try at once, one
   * does. Null where it is not, or is gone.
   */
  claim(projectId: string, from: number | null, to: number | null): Promise<RuntimeConnection | null>;
  /** What is a process's is nobody's from now on. */
  release(process: number): Promise<void>;
  /** False when there is none. */
  remove(projectId: string): Promise<boolean>;
  /** All connections that are wanted `started`, of every team. */
  started(): Promise<RuntimeConnection[]>;
}
export const RuntimeConnections = port<RuntimeConnections>('chat.RuntimeConnections');
