import type { ChatMessage } from '../../../domain/chat/chat.js';
import type { Conversation, ConversationMessage } from '../../../domain/chat/conversation.js';
import { port } from '../../shared/port.js';

/** A conversation is only ever found together with the account that it is of, and the project that it is in. */
export type ConversationKey = Pick<Conversation, 'id' | 'projectId' | 'accountId'>;

/** They go with their project and with their account. */
export interface Conversations {
  /** Adds the conversation with its first messages, or nothing. Throws NotFound when project or account are gone. */
  add(conversation: Conversation, messages: readonly ChatMessage[]): Promise<void>;
  /**
   * Adds messages to the end of a conversation, numbered on from its last one, and counts them in it; false, and
   * nothing written, where it is gone or would then hold more than `conversationLimits.messages`.
   * Of any number of callers at once each adds its messages in one piece, one caller after the other.
   */
  append(key: ConversationKey, messages: readonly ChatMessage[], at: Date): Promise<boolean>;
  /** Null where any part of the key is another. */
  find(key: ConversationKey): Promise<Conversation | null>;
  /** How many the account has in the project. */
  count(of: Omit<ConversationKey, 'id'>): Promise<number>;
  /** At most `limit` of an account's in a project, newest first, from the one before `after` on. */
  list(
    of: Omit<ConversationKey, 'id'>,
    page: { readonly limit: number; readonly after: string | null },
  ): Promise<Conversation[]>;
  /** At most `limit` of an account's in the projects of a team, the one with the newest turn first. */
  recent(accountId: string, teamId: string, limit: number): Promise<Conversation[]>;
  /** The newest `limit` messages of those before the number `before`, in the order in which they were said. */
  messages(
    id: string,
    page: { readonly limit: number; readonly before: number | null },
  ): Promise<ConversationMessage[]>;
  /** Removes the conversation with its messages; true when there was one. */
  remove(key: ConversationKey): Promise<boolean>;
}
export const Conversations = port<Conversations>('chat.Conversations');
