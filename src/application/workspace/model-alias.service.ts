import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Model } from '../../domain/workspace/model.js';
import { type AliasChange, type LivingAlias, ModelAlias } from '../../domain/workspace/model-alias.js';
import { Audit } from '../audit/audit.service.js';
import { Clock } from '../shared/ports.js';
import { retryWrite } from '../shared/retry-write.js';
import { ModelAliasRepository } from './ports.js';
import { type Change, type InProject, TeamWorkspace } from './team-workspace.js';

interface OfAlias extends InProject {
  readonly alias: string;
}

/** Manages aliases. Repeats a write if the alias changed meanwhile. */
@injectable()
export class ModelAliasService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly aliases: ModelAliasRepository,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Returns the last change of each alias, newest first. Throws NotFound. */
  async list(by: Caller | null, { projectId }: InProject): Promise<LivingAlias[]> {
    const caller = authorize(by, permissions.readWorkspace);
    const project = await this.workspace.project(caller, projectId);
    return this.aliases.living(project.id);
  }

  /** Returns the newest changes of an alias, newest first. Throws NotFound, also for a deleted alias. */
  async read(by: Caller | null, { projectId, alias }: OfAlias): Promise<AliasChange[]> {
    const caller = authorize(by, permissions.readWorkspace);
    const project = await this.workspace.project(caller, projectId);
    if (!ModelAlias.isName(alias)) throw new NotFound('alias');
    const history = await this.aliases.history(project.id, alias, ModelAlias.HISTORY);
    if (!history[0]?.modelId) throw new NotFound('alias');
    return history;
  }

  /**
   * Points an alias to a registered model and returns its newest changes, newest first. Changes nothing if the alias
   * already points to the model. Throws NotFound, InvalidRequest, StaleVersion.
   */
  async set(
    by: Caller | null,
    { projectId, alias, modelId, expected, signal }: OfAlias & Change & { modelId: string },
  ): Promise<AliasChange[]> {
    const caller = authorize(by, permissions.editWorkspace);
    const model = await this.workspace.model(caller, projectId, modelId);
    ModelAlias.requireName(alias);
    Model.requireRegistered(model);
    const change = { projectId: model.projectId, alias, modelId: model.id, changedBy: caller.accountId };
    return retryWrite(signal, async () => {
      const history = await this.aliases.history(model.projectId, alias, ModelAlias.HISTORY);
      const [last] = history;
      const next = ModelAlias.next(last, expected, { ...change, changedAt: this.clock.now() });
      if (!next) return history;
      const object = { id: model.projectId, name: alias };
      const details = { model_id: model.id, from: last?.modelId ?? null };
      const act = { by: caller, action: 'model_alias.moved', object, details } as const;
      return this.audit.perform(act, async () => {
        // The aliases are counted in the transaction of the write, so that concurrent calls cannot exceed the limit.
        if (!last?.modelId) ModelAlias.requireRoom(await this.aliases.living(model.projectId), alias);
        return (await this.aliases.append(next)) && [next, ...history].slice(0, ModelAlias.HISTORY);
      });
    });
  }

  /** Deletes an alias. Its history stays, and a later `set` continues it. Throws NotFound, StaleVersion. */
  async delete(by: Caller | null, { projectId, alias, expected, signal }: OfAlias & Change): Promise<void> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    if (!ModelAlias.isName(alias)) throw new NotFound('alias');
    const change = { projectId: project.id, alias, modelId: null, changedBy: caller.accountId };
    await retryWrite(signal, async () => {
      const [last] = await this.aliases.history(project.id, alias, 1);
      const deletion = { ...change, changedAt: this.clock.now() };
      const next = last?.modelId ? ModelAlias.next(last, expected, deletion) : null;
      if (!next) throw new NotFound('alias');
      const object = { id: project.id, name: alias };
      const details = { from: last?.modelId ?? null };
      const act = { by: caller, action: 'model_alias.deleted', object, details } as const;
      return this.audit.perform(act, () => this.aliases.append(next));
    });
  }
}
