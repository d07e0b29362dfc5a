import type { ChatMessage } from './chat.js';
import { ConversationFull, TooManyConversations, TurnTooLong } from './errors.js';

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
  /** The most characters of the messages that one call adds, without its answer, in UTF-16 units. */
  turnLength: 1_048_576,
} as const;

/** Returns the messages of a request that a conversation stores: all in a new one, else the last. */
export const storedMessages = <T>(keptIn: KeptIn, messages: readonly T[]): readonly T[] =>
  keptIn === 'new' ? messages : messages.slice(-1);

type Draft = Pick<Conversation, 'id' | 'projectId' | 'accountId' | 'createdAt'>;

export const Conversation = {
  begin: (draft: Draft, messages: readonly ChatMessage[]): Conversation => ({
    ...draft,
    title: titleOf(messages),
    messageCount: messages.length,
    updatedAt: draft.createdAt,
  }),

  /**
   * Throws ConversationFull, or TurnTooLong, if a conversation with `messageCount` messages has no room for these and
   * their answer.
   */
  requireRoomForTurn(messageCount: number, messages: readonly ChatMessage[]): void {
    const { messages: most, turnLength } = conversationLimits;
    if (messageCount + messages.length + 1 > most) throw new ConversationFull(most);
    const length = messages.reduce((sum, { content }) => sum + content.length, 0);
    if (length > turnLength) throw new TurnTooLong({ length, most: turnLength });
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
