import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Model } from '../../domain/workspace/model.js';
import { type AliasChange, ModelAlias } from '../../domain/workspace/model-alias.js';
import { Audit } from '../audit/audit.js';
import { Clock } from '../shared/ports.js';
import { ModelAliasRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly alias: string;
  readonly modelId: string;
  /** None where the last caller is to win. */
  readonly expected: readonly number[];
}

/** Points an alias to a registered model. Pointing it again to the same model changes nothing. */
@injectable()
export class SetModelAlias {
  constructor(
    private readonly found: ProjectModels,
    private readonly aliases: ModelAliasRepository,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** The alias's history by then, newest first. Throws NotFound, InvalidRequest, StaleVersion. */
  async execute({ by, projectId, alias, modelId, expected }: Input): Promise<AliasChange[]> {
    const caller = authorize(by, permissions.editWorkspace);
    const model = await this.found.model(caller, projectId, modelId);
    ModelAlias.requireName(alias);
    Model.requireRegistered(model);
    const change = { projectId: model.projectId, alias, modelId: model.id, changedBy: caller.accountId };
    for (;;) {
      const history = await this.aliases.history(model.projectId, alias, ModelAlias.HISTORY);
      const [last] = history;
      const next = ModelAlias.next(last, expected, { ...change, changedAt: this.clock.now() });
      if (!next) return history;
      const details = { model_id: model.id, from: last?.modelId ?? null };
      const object = { id: model.projectId, name: alias };
      // A lost race means that somebody else has moved the alias: this call moves it on from there.
      const written = await this.audit.perform(
        { by: caller, action: 'model_alias.moved', object, details },
        async () => {
          // Of many that make an alias at once, each counts the others.
          if (!last?.modelId) ModelAlias.requireRoom(await this.aliases.living(model.projectId), alias);
          return this.aliases.append(next);
        },
      );
      if (written) return [next, ...history].slice(0, ModelAlias.HISTORY);
    }
  }
}
