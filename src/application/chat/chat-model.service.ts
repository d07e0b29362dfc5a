import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { UnknownModel } from '../../domain/chat/errors.js';
import { unstorableLeaf } from '../../domain/shared/text.js';
import { ProjectRepository } from '../workspace/ports.js';
import { type ChatModel, RuntimeConnectionRepository } from './ports.js';

interface Named {
  /** The id of a project of the team, or a name that only one of its projects has. An id is preferred to a name. */
  readonly model: string;
}

/** Presents the projects of a team as models of OpenAI's API. */
@injectable()
export class ChatModelService {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly connections: RuntimeConnectionRepository,
  ) {}

  /** Returns the caller's team and its projects with a connected model, newest first. Their runtimes may be stopped. */
  async list(by: Caller | null): Promise<{ teamId: string; models: readonly ChatModel[] }> {
    const { teamId } = authorize(by, permissions.chat);
    return { teamId, models: await this.connections.connectedProjects(teamId) };
  }

  /** Throws UnknownModel, also if the project has no connected model. */
  async read(by: Caller | null, named: Named): Promise<{ teamId: string; model: ChatModel }> {
    const { teamId, models } = await this.list(by);
    const id = await this.projectId(by, named);
    const model = models.find((one) => one.id === id);
    if (!model) throw new UnknownModel();
    return { teamId, model };
  }

  /** Returns the id of the project. Throws UnknownModel. */
  async projectId(by: Caller | null, { model }: Named): Promise<string> {
    const caller = authorize(by, permissions.chat);
    const found = unstorableLeaf(model) ? [] : await this.matching(caller, model);
    if (found.length !== 1) throw new UnknownModel();
    return found[0] as string;
  }

  private async matching({ teamId }: AccountCaller, model: string): Promise<string[]> {
    const project = await this.connections.ofProject(model);
    return project?.teamId === teamId ? [model] : this.projects.named(teamId, model, 2);
  }
}
