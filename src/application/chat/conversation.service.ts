import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { ChatMessage, ChatRequest, RequestMessage } from '../../domain/chat/chat.js';
import {
  Conversation,
  type ConversationMessage,
  type KeptIn,
  storedAnswer,
  storedMessages,
} from '../../domain/chat/conversation.js';
import { NotFound } from '../../domain/shared/errors.js';
import { storable } from '../../domain/shared/text.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import { boundedPage } from '../shared/bounded-page.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, type Page, UnitOfWork, type VersionPage } from '../shared/ports.js';
import { found, type InProject, TeamWorkspace } from '../workspace/team-workspace.js';
import { ConversationRepository } from './ports.js';
import { TurnText } from './turn-text.js';

interface Listing extends InProject {
  readonly page: Page;
}

interface OfConversation extends InProject {
  readonly id: string;
}

interface Reading extends OfConversation, WithMemory {
  readonly page: VersionPage;
}

/** Names the conversation that stores a turn: a new conversation, or the caller's conversation with this id. */
export interface TurnPlace {
  readonly caller: AccountCaller;
  readonly projectId: string;
  readonly keptIn: KeptIn;
}

/** Manages the caller's own conversations. Those of other accounts are NotFound, also for an admin. */
@injectable()
export class ConversationService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly conversations: ConversationRepository,
    private readonly quotas: StorageQuotas,
    private readonly unitOfWork: UnitOfWork,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Returns the caller's conversations in a project, newest first. Throws NotFound. */
  async list(by: Caller | null, { projectId, page }: Listing): Promise<Conversation[]> {
    const { accountId } = authorize(by, permissions.readWorkspace);
    await this.requireProject(by, { projectId });
    return this.conversations.list({ projectId, accountId }, page);
  }

  /** Returns a conversation with a page of its messages. Long texts shorten the page. Throws NotFound. */
  async read(
    by: Caller | null,
    input: Reading,
  ): Promise<{ conversation: Conversation; messages: readonly ConversationMessage[] }> {
    const conversation = await this.requireConversation(by, input);
    const { memory } = input;
    const { limit, before } = input.page;
    const numbers = (page: Page) => ({ limit: page.limit, before: page.after === null ? null : Number(page.after) });
    const first = { limit, after: before === null ? null : String(before) };
    const { items: messages } = await boundedPage(first, {
      sizes: (page) => this.conversations.messageSizes(conversation.id, numbers(page)),
      fetch: (page) => this.conversations.messages(conversation.id, numbers(page)),
      memory,
    });
    return { conversation, messages };
  }

  /** Deletes a conversation with its messages. Throws NotFound. */
  async delete(by: Caller | null, { projectId, id }: OfConversation): Promise<void> {
    const caller = authorize(by, permissions.ownConversations);
    const conversation = await this.find(caller, projectId, id);
    if (!(await this.conversations.remove(conversation))) throw new NotFound('conversation');
  }

  /** Throws NotFound. */
  async requireProject(by: Caller | null, { projectId }: InProject): Promise<void> {
    await this.workspace.project(authorize(by, permissions.readWorkspace), projectId);
  }

  /** Throws NotFound. */
  async requireConversation(by: Caller | null, { projectId, id }: OfConversation): Promise<Conversation> {
    return this.find(authorize(by, permissions.readWorkspace), projectId, id);
  }

  /**
   * Returns the id of the conversation that will store the turn. Throws NotFound, ConversationFull, TurnTooLong,
   * TooManyConversations or QuotaExceeded if the turn cannot be stored. The caller has checked that the project is the
   * team's. The turns in flight can exceed the quota, each by its own length.
   */
  async prepareTurn(place: TurnPlace, { messages }: ChatRequest): Promise<string> {
    await this.requireRoom(place, questionsOf(place.keptIn, messages));
    return place.keptIn === 'new' ? this.ids.next('cnv') : place.keptIn;
  }

  /**
   * Stores a turn in the conversation that `prepareTurn` returned. A new conversation gets all messages of the request
   * and the answer. An existing conversation gets the last message and the answer. Stores only the beginning of a very
   * long answer. Stores nothing and throws what `prepareTurn` throws if the turn cannot be stored any more.
   */
  async storeTurn(place: TurnPlace, id: string, { messages }: ChatRequest, text: string): Promise<void> {
    const answer: ChatMessage = { role: 'assistant', content: storable(storedAnswer(text)) };
    const questions = questionsOf(place.keptIn, messages);
    if (place.keptIn === 'new') await this.begin(place, id, questions, answer);
    else await this.append(place, id, questions, answer);
  }

  private async requireRoom(
    { caller, projectId, keptIn }: TurnPlace,
    questions: readonly ChatMessage[],
  ): Promise<void> {
    const { accountId } = caller;
    const [{ inProject, bytes }, conversation] = await Promise.all([
      this.conversations.stored({ projectId, accountId }),
      keptIn === 'new' ? null : this.conversations.find({ id: keptIn, projectId, accountId }),
    ]);
    if (keptIn === 'new') Conversation.requireRoomForOneMore(inProject);
    const { messageCount } = keptIn === 'new' ? { messageCount: 0 } : found('conversation', conversation);
    Conversation.requireRoomForTurn(messageCount, questions);
    this.quotas.requireRoom('conversationBytes', bytes);
  }

  private async begin(
    place: TurnPlace,
    id: string,
    questions: readonly ChatMessage[],
    answer: ChatMessage,
  ): Promise<void> {
    const { projectId, caller } = place;
    const { accountId } = caller;
    const draft = { id, projectId, accountId, createdAt: this.clock.now() };
    const messages = [...questions, answer];
    await this.unitOfWork.run(async () => {
      await this.requireRoom(place, questions);
      await this.conversations.add(Conversation.begin(draft, messages), messages);
    }, `conversations of ${accountId}`);
  }

  private async append(
    place: TurnPlace,
    id: string,
    questions: readonly ChatMessage[],
    answer: ChatMessage,
  ): Promise<void> {
    const key = { id, projectId: place.projectId, accountId: place.caller.accountId };
    if (await this.conversations.append(key, [...questions, answer], this.clock.now())) return;
    await this.requireRoom(place, questions);
    throw new NotFound('conversation');
  }

  private async find(caller: AccountCaller, projectId: string, id: string): Promise<Conversation> {
    const project = await this.workspace.project(caller, projectId);
    const { accountId } = caller;
    const conversation = await this.conversations.find({ id, projectId: project.id, accountId });
    if (!conversation) throw new NotFound('conversation');
    return conversation;
  }
}

const questionsOf = (keptIn: KeptIn, messages: readonly RequestMessage[]): ChatMessage[] =>
  storedMessages(keptIn, messages).map(stored);

/** Returns a message of a request as a conversation stores it. */
function stored({ role, content, toolCalls }: RequestMessage): ChatMessage {
  return { role, content: toolCalls ? TurnText.of({ text: content, toolCalls }) : content };
}
