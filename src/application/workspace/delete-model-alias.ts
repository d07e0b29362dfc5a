import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { ModelAlias } from '../../domain/workspace/model-alias.js';
import type { Audit } from '../audit/audit.js';
import type { Clock } from '../shared/ports/clock.js';
import type { ModelAliases } from './ports/model-aliases.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly alias: string;
  readonly expected: readonly number[];
}

/** Takes an alias away. Its history stays, and goes on when it is set again. */
export class DeleteModelAlias {
  constructor(
    private readonly found: ProjectModels,
    private readonly aliases: ModelAliases,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, StaleVersion. */
  async execute({ by, projectId, alias, expected }: Input): Promise<void> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.found.project(caller, projectId);
    if (!ModelAlias.isName(alias)) throw new NotFound('alias');
    const change = { projectId: project.id, alias, modelId: null, changedBy: caller.accountId };
    for (;;) {
      const [last] = await this.aliases.history(project.id, alias, 1);
      const next = ModelAlias.next(last, last?.modelId ? expected : [], { ...change, changedAt: this.clock.now() });
      if (!next) throw new NotFound('alias');
      const object = { id: project.id, name: alias };
      const details = { from: last?.modelId ?? null };
      const written = await this.audit.perform({ by: caller, action: 'model_alias.deleted', object, details }, () =>
        this.aliases.append(next),
      );
      if (written) return;
    }
  }
}
