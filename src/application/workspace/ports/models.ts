import type { Model, ModelVersion } from '../../../domain/workspace/model.js';
import { port } from '../../shared/port.js';

/** Models go with their project, and their versions with them. */
export interface Models {
  /**
   * Adds the model, unless its project has one with the same `requestId` already; answers the one that is stored.
   * Of any number of callers with the same `requestId` exactly one adds. Throws NotFound when the project is gone.
   */
  addOnce(model: Model): Promise<Model>;
  /** Null for an unknown id, and for a model of another project. */
  find(projectId: string, id: string): Promise<Model | null>;
  /** The models of a project, newest first: at most `limit`, those that come after the one with the id `after`. */
  all(projectId: string, page: { readonly limit: number; readonly after: string | null }): Promise<Model[]>;
  /** The registered models of the projects named, newest first. */
  registered(projectIds: readonly string[]): Promise<Model[]>;
  /**
   * Writes `next` if the stored model still has the version and the state of `current`; false, and nothing written,
   * if not. Of any number of callers with the same `current` exactly one gets true.
   */
  replace(current: Model, next: Model): Promise<boolean>;
  /**
   * Removes the model, with all its versions, if it still has the version and the state of `current`; false if not.
   * Its `requestId` is free then.
   */
  remove(current: Model): Promise<boolean>;
  /**
   * What `addOnce` and `replace` wrote, newest first, a version once and without its spec: at most `limit`, those
   * before the version `before`.
   */
  versions(
    modelId: string,
    page: { readonly limit: number; readonly before: number | null },
  ): Promise<Omit<ModelVersion, 'spec'>[]>;
  /** Null for a version that never was. */
  version(modelId: string, version: number): Promise<ModelVersion | null>;
}
export const Models = port<Models>('workspace.Models');
