import { injectable } from 'inversify';
import { ConversationService } from '../../../application/chat/conversation.service.js';
import type { Conversation, ConversationMessage } from '../../../domain/chat/conversation.js';
import { answerFrom, deleted, hidden, paged } from '../answers.js';
import { type Controller, type Existence, route } from '../contract.js';
import { onePage, pageOf } from '../paging.js';
import * as contracts from './conversations.contract.js';

@injectable()
export class ConversationsController implements Controller {
  readonly routes = [
    route(contracts.listConversations, async ({ caller, params, query }) => {
      const input = { projectId: params.project_id, page: pageOf(query) };
      return paged('conversations', onePage(await this.conversations.list(caller, input), query), conversationAnswer);
    }),
    route(contracts.readConversation, async ({ caller, params, query: { limit, cursor }, memory }) => {
      const page = { limit, before: cursor ?? null };
      const input = { projectId: params.project_id, id: params.conversation_id, page, memory };
      const { conversation, messages } = await this.conversations.read(caller, input);
      const oldest = messages[0]?.number ?? 1;
      return {
        ...conversationAnswer(conversation),
        messages: messages.map(messageAnswer),
        next_cursor: oldest > 1 ? String(oldest) : null,
      };
    }),
    route(contracts.deleteConversation, ({ caller, params: { project_id: projectId, conversation_id: id } }) =>
      deleted(id, this.conversations.delete(caller, { projectId, id })),
    ),
  ];

  readonly exists: Existence<'project_id' | 'conversation_id'> = {
    project_id: ({ caller, params }) => this.conversations.requireProject(caller, { projectId: params.project_id }),
    conversation_id: ({ caller, params: { project_id: projectId, conversation_id: id } }) =>
      this.conversations.requireConversation(caller, { projectId, id }),
  };

  constructor(private readonly conversations: ConversationService) {}
}

export const conversationAnswer = (conversation: Conversation) =>
  answerFrom(contracts.ConversationAnswer, conversation, { account_id: hidden });

const messageAnswer = (message: ConversationMessage) =>
  answerFrom(contracts.readConversation.answer.shape.messages.element, message, { number: hidden });
