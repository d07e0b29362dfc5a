import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { LivingAlias } from '../../domain/workspace/model-alias.js';
import { ModelAliasRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

/** The aliases of a project as their last changes, the one changed last first. */
@injectable()
export class ListModelAliases {
  constructor(
    private readonly found: ProjectModels,
    private readonly aliases: ModelAliasRepository,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; projectId: string }): Promise<LivingAlias[]> {
    const caller = authorize(input.by, permissions.readWorkspace);
    const project = await this.found.project(caller, input.projectId);
    return this.aliases.living(project.id);
  }
}
