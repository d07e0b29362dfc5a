import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { type AliasChange, ModelAlias } from '../../domain/workspace/model-alias.js';
import { ModelAliasRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

@injectable()
export class ReadModelAlias {
  constructor(
    private readonly found: ProjectModels,
    private readonly aliases: ModelAliasRepository,
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
