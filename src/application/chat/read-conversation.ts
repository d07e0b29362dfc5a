import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Conversation, ConversationMessage } from '../../domain/chat/conversation.js';
import { OwnConversations } from './own-conversations.js';
import { ConversationRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly id: string;
  readonly page: { readonly limit: number; readonly before: number | null };
}

/** One of the caller's own conversations, with a page of its messages. */
@injectable()
export class ReadConversation {
  constructor(
    private readonly own: OwnConversations,
    private readonly conversations: ConversationRepository,
  ) {}

  /** Throws NotFound. */
  async execute(input: Input): Promise<{ conversation: Conversation; messages: ConversationMessage[] }> {
    const conversation = await this.requireConversation(input);
    return { conversation, messages: await this.conversations.messages(conversation.id, input.page) };
  }

  /** Throws NotFound. */
  async requireConversation({ by, projectId, id }: Omit<Input, 'page'>): Promise<Conversation> {
    return this.own.conversation(authorize(by, permissions.readWorkspace), projectId, id);
  }
}
