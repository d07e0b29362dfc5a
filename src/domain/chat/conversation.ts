import type { ChatMessage } from './chat.js';
import { ConversationFull, TooManyConversations } from './errors.js';

/** A stored chat. Only its account can see and continue it. */
export interface Conversation {
  readonly id: string;
  readonly projectId: string;
  readonly accountId: string;
  /** One line, not empty. */
  readonly title: string;
  readonly messageCount: number;
  readonly createdAt: Date;
  /** The time of the newest turn. */
  readonly updatedAt: Date;
}

export interface ConversationMessage extends ChatMessage {
  /** Counts from 1 without a gap. */
  readonly number: number;
  readonly createdAt: Date;
}

/** The id of the conversation that a turn continues, or `new` for a new conversation. */
export type KeptIn = 'new' | Conversation['id'];

export const conversationLimits = {
  messages: 2_000,
  /** Conversations of one account in one project. */
  perProject: 1_000,
  /** In code points. */
  titleLength: 80,
  /** The most characters of an answer that a conversation stores, in UTF-16 units. */
  answerLength: 262_144,
} as const;

/** A turn has two messages: a question and its answer. */
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

  /** Throws TooManyConversations if an account with `count` conversations in the project may not begin another. */
  requireRoomForOneMore(count: number): void {
    if (count >= conversationLimits.perProject) throw new TooManyConversations(conversationLimits.perProject);
  },
};

const CUT = `\n\n[The rest of this answer is not stored: it is longer than ${conversationLimits.answerLength} characters.]`;

/** Returns what a conversation stores of an answer. The end of a cut answer says so. */
export const storedAnswer = (text: string): string =>
  text.length > conversationLimits.answerLength ? text.slice(0, conversationLimits.answerLength) + CUT : text;

/** Returns the beginning of the first question, on one line. */
function titleOf(messages: readonly ChatMessage[]): string {
  const question = messages.find(({ role }) => role === 'user')?.content ?? '';
  const line = question.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return [...line].slice(0, conversationLimits.titleLength).join('') || 'Untitled conversation';
}
