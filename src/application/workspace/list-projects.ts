import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Conversation } from '../../domain/chat/conversation.js';
import type { Conversations } from '../chat/ports/conversations.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import type { Projects } from './ports/projects.js';
import type { ProjectOverview, ProjectOverviews } from './project-overview.js';

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
export class ListProjects {
  constructor(
    private readonly projects: Projects,
    private readonly overviews: ProjectOverviews,
    private readonly conversations: Conversations,
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
