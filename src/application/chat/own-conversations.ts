import { injectable } from 'inversify';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import type { Conversation } from '../../domain/chat/conversation.js';
import { NotFound } from '../../domain/shared/errors.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { ConversationRepository } from './ports.js';

/** Finds a caller's own conversations; those of anybody else look as if there were none, to admins too. */
@injectable()
export class OwnConversations {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly conversations: ConversationRepository,
  ) {}

  /** Throws NotFound. */
  async conversation(caller: AccountCaller, projectId: string, id: string): Promise<Conversation> {
    const project = await this.workspace.project(caller, projectId);
    const { accountId } = caller;
    const conversation = await this.conversations.find({ id, projectId: project.id, accountId });
    if (!conversation) throw new NotFound('conversation');
    return conversation;
  }
}
