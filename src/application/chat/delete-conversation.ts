import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { OwnConversations } from './own-conversations.js';
import { ConversationRepository } from './ports.js';

/** Removes one of the caller's own conversations for good. */
@injectable()
export class DeleteConversation {
  constructor(
    private readonly own: OwnConversations,
    private readonly conversations: ConversationRepository,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; projectId: string; id: string }): Promise<void> {
    const caller = authorize(input.by, permissions.ownConversations);
    const conversation = await this.own.conversation(caller, input.projectId, input.id);
    if (!(await this.conversations.remove(conversation))) throw new NotFound('conversation');
  }
}
