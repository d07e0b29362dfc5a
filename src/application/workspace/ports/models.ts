import type { Model } from '../../../domain/workspace/model.js';
import { port } from '../../shared/port.js';

export interface Models {
  /**
   * Adds the model, unless its project has one with the same `requestId` already; answers the one that is stored.
   * Of any number of callers with the same `requestId` exactly one adds.
   */
  addOnce(model: Model): Promise<Model>;
  /** Null for an unknown id, and for a model of another project. */
  find(projectId: string, id: string): Promise<Model | null>;
  /** The registered models of the projects named, newest first. */
  registered(projectIds: readonly string[]): Promise<Model[]>;
  /**
   * Writes `next` if the stored model still has the version and the state of `current`; false, and nothing written,
   * if not. Of any number of callers with the same `current` exactly one gets true.
   */
  replace(current: Model, next: Model): Promise<boolean>;
}
export const Models = port<Models>('workspace.Models');
