import { injectable } from 'inversify';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import type { ChatMessage, ChatRequest } from '../../domain/chat/chat.js';
import { Conversation, type KeptIn } from '../../domain/chat/conversation.js';
import { NotFound } from '../../domain/shared/errors.js';
import { storable } from '../../domain/shared/text.js';
import { Clock, IdGenerator, UnitOfWork } from '../shared/ports.js';
import { OwnConversations } from './own-conversations.js';
import { ConversationRepository } from './ports.js';

export interface Place {
  readonly caller: AccountCaller;
  readonly projectId: string;
  readonly keptIn: KeptIn;
}

/** Keeps the turns of those chats whose callers ask for it. */
@injectable()
export class KeepTurn {
  constructor(
    private readonly own: OwnConversations,
    private readonly conversations: ConversationRepository,
    private readonly unitOfWork: UnitOfWork,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, ConversationFull or TooManyConversations where a turn could not be kept, before it is made. */
  async requireRoom({ caller, projectId, keptIn }: Place): Promise<void> {
    if (keptIn === 'new') {
      const { accountId } = caller;
      return Conversation.requireRoomForOneMore(await this.conversations.count({ projectId, accountId }));
    }
    Conversation.requireRoomForTurn(await this.own.conversation(caller, projectId, keptIn));
  }

  /**
   * Keeps all messages of a chat that begins, and the last one of a chat that goes on, whose earlier ones are there
   * already; each with the answer. Returns the conversation's id. Throws as `requireRoom` does, for what has changed
   * while the answer was made, and keeps nothing then.
   */
  async execute(place: Place, { messages }: ChatRequest, text: string): Promise<string> {
    const answer: ChatMessage = { role: 'assistant', content: storable(text) };
    if (place.keptIn === 'new') return this.begin(place, [...messages, answer]);
    return this.continue(place, place.keptIn, [...messages.slice(-1), answer]);
  }

  private async begin({ caller, projectId, keptIn }: Place, messages: readonly ChatMessage[]): Promise<string> {
    const { accountId } = caller;
    const draft = { id: this.ids.next('cnv'), projectId, accountId, createdAt: this.clock.now() };
    await this.unitOfWork.run(async () => {
      await this.requireRoom({ caller, projectId, keptIn });
      await this.conversations.add(Conversation.begin(draft, messages), messages);
    });
    return draft.id;
  }

  private async continue({ caller, projectId }: Place, id: string, messages: readonly ChatMessage[]): Promise<string> {
    const key = { id, projectId, accountId: caller.accountId };
    if (await this.conversations.append(key, messages, this.clock.now())) return id;
    await this.requireRoom({ caller, projectId, keptIn: id });
    throw new NotFound('conversation');
  }
}
