import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { LivingAlias } from '../../domain/workspace/model-alias.js';
import type { ModelAliases } from './ports/model-aliases.js';
import type { ProjectModels } from './project-models.js';

/** The aliases of a project as their last changes, the one changed last first. */
export class ListModelAliases {
  constructor(
    private readonly found: ProjectModels,
    private readonly aliases: ModelAliases,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; projectId: string }): Promise<LivingAlias[]> {
    const caller = authorize(input.by, permissions.readWorkspace);
    const project = await this.found.project(caller, input.projectId);
    return this.aliases.living(project.id);
  }
}
