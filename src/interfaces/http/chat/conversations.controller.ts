import { injectable } from 'inversify';
import { ConversationService } from '../../../application/chat/conversation.service.js';
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
        const { items, ...page } = paged(await this.conversations.list(input), query);
        return { conversations: items.map(conversationAnswer), ...page };
      },
      ({ caller, params }) => this.conversations.requireProject({ by: caller, projectId: params.project_id }),
    ),
    route(
      contracts.readConversation,
      async ({ caller, params, query: { limit, cursor } }) => {
        const page = { limit, before: cursor ?? null };
        const input = { by: caller, projectId: params.project_id, id: params.conversation_id, page };
        const { conversation, messages } = await this.conversations.read(input);
        const oldest = messages[0]?.number ?? 1;
        return {
          ...conversationAnswer(conversation),
          messages: messages.map(({ role, content, createdAt }) => ({ role, content, created_at: seconds(createdAt) })),
          next_cursor: oldest > 1 ? String(oldest) : null,
        };
      },
      ({ caller, params }) =>
        this.conversations.requireConversation({
          by: caller,
          projectId: params.project_id,
          id: params.conversation_id,
        }),
    ),
    route(contracts.deleteConversation, async ({ caller, params: { project_id: projectId, conversation_id: id } }) => {
      await this.conversations.delete({ by: caller, projectId, id });
      return deleted(id);
    }),
  ];

  constructor(private readonly conversations: ConversationService) {}
}

export const conversationAnswer = (conversation: Conversation) => ({
  id: conversation.id,
  project_id: conversation.projectId,
  title: conversation.title,
  message_count: conversation.messageCount,
  created_at: seconds(conversation.createdAt),
  updated_at: seconds(conversation.updatedAt),
});
