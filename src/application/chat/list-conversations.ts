import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Conversation } from '../../domain/chat/conversation.js';
import type { ProjectModels } from '../workspace/project-models.js';
import type { Conversations } from './ports/conversations.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly page: { readonly limit: number; readonly after: string | null };
}

/** The caller's own conversations in a project. */
export class ListConversations {
  constructor(
    private readonly found: ProjectModels,
    private readonly conversations: Conversations,
  ) {}

  /** Throws NotFound. */
  async execute({ by, projectId, page }: Input): Promise<Conversation[]> {
    const { accountId } = authorize(by, permissions.readWorkspace);
    await this.requireProject({ by, projectId });
    return this.conversations.list({ projectId, accountId }, page);
  }

  /** Throws NotFound. */
  async requireProject({ by, projectId }: Pick<Input, 'by' | 'projectId'>): Promise<void> {
    await this.found.project(authorize(by, permissions.readWorkspace), projectId);
  }
}
