import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { OwnConversations } from './own-conversations.js';
import type { Conversations } from './ports/conversations.js';

/** Removes one of the caller's own conversations for good. */
export class DeleteConversation {
  constructor(
    private readonly own: OwnConversations,
    private readonly conversations: Conversations,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; projectId: string; id: string }): Promise<void> {
    const caller = authorize(input.by, permissions.ownConversations);
    const conversation = await this.own.conversation(caller, input.projectId, input.id);
    if (!(await this.conversations.remove(conversation))) throw new NotFound('conversation');
  }
}
