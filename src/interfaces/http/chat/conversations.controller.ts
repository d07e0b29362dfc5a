import { injectable } from 'inversify';
import { DeleteConversation } from '../../../application/chat/delete-conversation.js';
import { ListConversations } from '../../../application/chat/list-conversations.js';
import { ReadConversation } from '../../../application/chat/read-conversation.js';
import type { Conversation } from '../../../domain/chat/conversation.js';
import { type Controller, route } from '../contract.js';
import { paged, pageOf } from '../paging.js';
import { deleted, seconds } from '../schemas.js';
import * as contracts from './conversations.contract.js';

/** One's own conversations. */
@injectable()
export class ConversationsController implements Controller {
  readonly routes = [
    route(
      contracts.listConversations,
      async ({ caller, params, query }) => {
        const input = { by: caller, projectId: params.project_id, page: pageOf(query) };
        const { items, ...page } = paged(await this.listConversations.execute(input), query);
        return { conversations: items.map(conversationAnswer), ...page };
      },
      ({ caller, params }) => this.listConversations.requireProject({ by: caller, projectId: params.project_id }),
    ),
    route(
      contracts.readConversation,
      async ({ caller, params, query: { limit, cursor } }) => {
        const page = { limit, before: cursor ?? null };
        const input = { by: caller, projectId: params.project_id, id: params.conversation_id, page };
        const { conversation, messages } = await this.readConversation.execute(input);
        const oldest = messages[0]?.number ?? 1;
        return {
          ...conversationAnswer(conversation),
          messages: messages.map(({ role, content, createdAt }) => ({ role, content, created_at: seconds(createdAt) })),
          next_cursor: oldest > 1 ? String(oldest) : null,
        };
      },
      ({ caller, params }) =>
        this.readConversation.requireConversation({
          by: caller,
          projectId: params.project_id,
          id: params.conversation_id,
        }),
    ),
    route(contracts.deleteConversation, async ({ caller, params: { project_id: projectId, conversation_id: id } }) => {
      await this.deleteConversation.execute({ by: caller, projectId, id });
      return deleted(id);
    }),
  ];

  constructor(
    private readonly listConversations: ListConversations,
    private readonly readConversation: ReadConversation,
    private readonly deleteConversation: DeleteConversation,
  ) {}
}

export const conversationAnswer = (conversation: Conversation) => ({
  id: conversation.id,
  project_id: conversation.projectId,
  title: conversation.title,
  message_count: conversation.messageCount,
  created_at: seconds(conversation.createdAt),
  updated_at: seconds(conversation.updatedAt),
});
