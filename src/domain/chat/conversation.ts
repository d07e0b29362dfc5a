import type { ChatMessage } from './chat.js';
import { ConversationFull, TooManyConversations } from './errors.js';

/** A chat that is kept, so that its account can take it up again. Nobody else ever sees it. */
export interface Conversation {
  readonly id: string;
  readonly projectId: string;
  readonly accountId: string;
  /** One line, not empty. */
  readonly title: string;
  readonly messageCount: number;
  readonly createdAt: Date;
  /** When the newest turn was kept. */
  readonly updatedAt: Date;
}

export interface ConversationMessage extends ChatMessage {
  /** From 1 on, without a gap. */
  readonly number: number;
  readonly createdAt: Date;
}

/** Where a turn is to be kept: in a conversation that there is, by its id, or in one that begins with it. */
export type KeptIn = 'new' | Conversation['id'];

export const conversationLimits = {
  messages: 2_000,
  /** Of one account. */
  perProject: 1_000,
  /** In code points. */
  titleLength: 80,
} as const;

/** What a continued conversation grows by: a question and its answer. */
const TURN = 2;

type Draft = Pick<Conversation, 'id' | 'projectId' | 'accountId' | 'createdAt'>;

export const Conversation = {
  begin: (draft: Draft, messages: readonly ChatMessage[]): Conversation => ({
    ...draft,
    title: titleOf(messages),
    messageCount: messages.length,
    updatedAt: draft.createdAt,
  }),

  /** Throws ConversationFull. */
  requireRoomForTurn({ messageCount }: Conversation): void {
    if (messageCount + TURN > conversationLimits.messages) throw new ConversationFull(conversationLimits.messages);
  },

  /** Throws TooManyConversations for an account that has `count` of them in the project already. */
  requireRoomForOneMore(count: number): void {
    if (count >= conversationLimits.perProject) throw new TooManyConversations(conversationLimits.perProject);
  },
};

/** The beginning of the first question, on one line. */
function titleOf(messages: readonly ChatMessage[]): string {
  const question = messages.find(({ role }) => role === 'user')?.content ?? '';
  const line = question.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return [...line].slice(0, conversationLimits.titleLength).join('') || 'Untitled conversation';
}
