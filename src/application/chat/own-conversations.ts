import type { AccountCaller } from '../../domain/access/caller.js';
import type { Conversation } from '../../domain/chat/conversation.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { ProjectModels } from '../workspace/project-models.js';
import type { Conversations } from './ports/conversations.js';

/** Finds a caller's own conversations; those of anybody else look as if there were none, to admins too. */
export class OwnConversations {
  constructor(
    private readonly found: ProjectModels,
    private readonly conversations: Conversations,
  ) {}

  /** Throws NotFound. */
  async conversation(caller: AccountCaller, projectId: string, id: string): Promise<Conversation> {
    const project = await this.found.project(caller, projectId);
    const { accountId } = caller;
    const conversation = await this.conversations.find({ id, projectId: project.id, accountId });
    if (!conversation) throw new NotFound('conversation');
    return conversation;
  }
}
