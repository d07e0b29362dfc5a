import type { Project } from '../../../domain/workspace/project.js';
import { port } from '../../shared/port.js';

export interface Projects {
  add(project: Project): Promise<void>;
  /** Null for an unknown id, and for a project of another team. */
  find(teamId: string, id: string): Promise<Project | null>;
  /**
   * Writes `next` if the stored project still has the version of `current`; false, and nothing written, if not.
   * Of any number of callers with the same `current` exactly one gets true.
   */
  replace(current: Project, next: Project): Promise<boolean>;
}
export const Projects = port<Projects>('workspace.Projects');
