import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { ModelAlias } from '../../domain/workspace/model-alias.js';
import { Audit } from '../audit/audit.js';
import { Clock } from '../shared/ports.js';
import { ModelAliasRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly alias: string;
  readonly expected: readonly number[];
}

/** Takes an alias away. Its history stays, and goes on when it is set again. */
@injectable()
export class DeleteModelAlias {
  constructor(
    private readonly found: ProjectModels,
    private readonly aliases: ModelAliasRepository,
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
