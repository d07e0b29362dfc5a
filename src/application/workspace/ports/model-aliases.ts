import type { AliasChange, LivingAlias } from '../../../domain/workspace/model-alias.js';
import { port } from '../../shared/port.js';

/** The changes of aliases; each stays as it was written, and goes only with its project. */
export interface ModelAliases {
  /**
   * Writes the change, unless the alias has one with that version already: false then. Of any number of callers with
   * the same version exactly one gets true. Throws NotFound when the project or the model is gone.
   */
  append(change: AliasChange): Promise<boolean>;
  /** The newest changes of an alias, at most `most`, newest first. */
  history(projectId: string, alias: string, most: number): Promise<AliasChange[]>;
  /** The last change of each alias of the project that points to a model by it, the one changed last first. */
  living(projectId: string): Promise<LivingAlias[]>;
}
export const ModelAliases = port<ModelAliases>('workspace.ModelAliases');
