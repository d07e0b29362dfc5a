import type { Project } from '../../../domain/workspace/project.js';
import { port } from '../../shared/port.js';

/** A version of a project as it was: `createdBy` and `createdAt` are of the version. */
export interface ProjectVersion extends Pick<Project, 'version' | 'name' | 'spec' | 'createdBy' | 'createdAt'> {}

export interface Projects {
  add(project: Project): Promise<void>;
  /** Null for an unknown id, and for a project of another team. */
  find(teamId: string, id: string): Promise<Project | null>;
  /** At most `limit` projects of a team, newest first, from the one before `after` on. */
  all(teamId: string, page: { readonly limit: number; readonly after: string | null }): Promise<Project[]>;
  /** What a team calls its newest projects, newest first, at most `limit`. */
  names(teamId: string, limit: number): Promise<Pick<Project, 'id' | 'name'>[]>;
  /**
   * Writes `next` if the stored project still has the version of `current`; false, and nothing written, if not.
   * Of any number of callers with the same `current` exactly one gets true. What a review found is left as it is.
   */
  replace(current: Project, next: Project): Promise<boolean>;
  /** Keeps what the review of a version found, if that is still the version; false if it is not. */
  noteReview(project: Pick<Project, 'id' | 'version' | 'reviewedVersion'>): Promise<boolean>;
  /** Removes the project with all that hangs on it, if it still has this version; false if not. */
  remove(project: Pick<Project, 'id' | 'version'>): Promise<boolean>;
  /** Every version that the project ever had, newest first; at most `limit`, those before version `before`. */
  versions(id: string, page: { readonly limit: number; readonly before: number | null }): Promise<VersionEntry[]>;
  /** Null where the project never had it. */
  version(id: string, version: number): Promise<ProjectVersion | null>;
}
export const Projects = port<Projects>('workspace.Projects');

export type VersionEntry = Omit<ProjectVersion, 'spec'>;
