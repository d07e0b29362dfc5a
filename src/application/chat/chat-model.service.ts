import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { UnknownModel } from '../../domain/chat/errors.js';
import { type ChatModel, RuntimeConnectionRepository } from './ports.js';
import { RuntimeReconciler } from './runtime-reconciler.js';

interface Named {
  /** The id of a project of the team, or a name that only one of its projects has. An id is preferred to a name. */
  readonly model: string;
}

export interface TeamModel extends ChatModel {
  /** The most tokens of a prompt with its answer. Null while this instance does not know it. */
  readonly context: number | null;
}

/** Presents the projects of a team as models of OpenAI's API. */
@injectable()
export class ChatModelService {
  constructor(
    private readonly connections: RuntimeConnectionRepository,
    private readonly reconciler: RuntimeReconciler,
  ) {}

  /** Returns the caller's team and its projects with a connected model, newest first. Their runtimes may be stopped. */
  async list(by: Caller | null): Promise<{ teamId: string; models: readonly TeamModel[] }> {
    const caller = authorize(by, permissions.chat);
    const { teamId } = caller;
    const connected = await this.connections.connectedProjects(teamId);
    const models = connected.filter(({ id }) => KeyScope.covers(caller, id));
    return { teamId, models: models.map((one) => ({ ...one, context: this.reconciler.context(one.id) })) };
  }

  /** Throws UnknownModel, also if the project has no connected model. */
  async read(by: Caller | null, named: Named): Promise<{ teamId: string; model: TeamModel }> {
    const { teamId, models } = await this.list(by);
    const { projectId } = await this.reconciler.stateForTeam(authorize(by, permissions.chat), named);
    const model = models.find(({ id }) => id === projectId);
    if (!model) throw new UnknownModel();
    return { teamId, model };
  }
}
