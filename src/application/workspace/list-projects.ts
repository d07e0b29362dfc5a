import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Conversation } from '../../domain/chat/conversation.js';
import { ConversationRepository } from '../chat/ports.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import { ProjectRepository } from './ports.js';
import { type ProjectOverview, ProjectOverviews } from './project-overview.js';

interface Input {
  readonly by: Caller | null;
  readonly limit: number;
  /** The id of the project before the first one wanted. */
  readonly after: string | null;
}

interface Listing {
  /** Newest first. */
  readonly projects: Bounded<ProjectOverview>;
  /** The caller's own in any project of the team, the one with the newest turn first. */
  readonly conversations: readonly Conversation[];
}

const CONVERSATIONS = 100;

/** What the team works on, and what the caller can take up again. */
@injectable()
export class ListProjects {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly overviews: ProjectOverviews,
    private readonly conversations: ConversationRepository,
  ) {}

  async execute({ by, limit, after }: Input): Promise<Listing> {
    const { teamId, accountId } = authorize(by, permissions.readWorkspace);
    const [projects, conversations] = await Promise.all([
      boundedPage(
        { limit, after },
        (page) => this.projects.all(teamId, page),
        ({ spec }) => spec,
      ),
      this.conversations.recent(accountId, teamId, CONVERSATIONS),
    ]);
    return { projects: { ...projects, items: await this.overviews.ofAll(projects.items) }, conversations };
  }
}
