import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { type AliasChange, ModelAlias } from '../../domain/workspace/model-alias.js';
import type { ModelAliases } from './ports/model-aliases.js';
import type { ProjectModels } from './project-models.js';

export class ReadModelAlias {
  constructor(
    private readonly found: ProjectModels,
    private readonly aliases: ModelAliases,
  ) {}

  /** Its history, newest first. Throws NotFound, also for an alias that was taken away. */
  async execute(input: { by: Caller | null; projectId: string; alias: string }): Promise<AliasChange[]> {
    const caller = authorize(input.by, permissions.readWorkspace);
    const project = await this.found.project(caller, input.projectId);
    if (!ModelAlias.isName(input.alias)) throw new NotFound('alias');
    const history = await this.aliases.history(project.id, input.alias, ModelAlias.HISTORY);
    if (!history[0]?.modelId) throw new NotFound('alias');
    return history;
  }
}
