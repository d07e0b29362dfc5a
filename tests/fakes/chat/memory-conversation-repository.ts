import type { ConversationKey, ConversationRepository } from '../../../src/application/chat/ports.js';
import type { ChatMessage } from '../../../src/domain/chat/chat.js';
import {
  type Conversation,
  type ConversationMessage,
  conversationLimits,
} from '../../../src/domain/chat/conversation.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { accountRows } from '../accounts/memory-account-repositories.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

interface Kept {
  readonly id: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly conversation: Conversation;
  readonly messages: readonly ConversationMessage[];
}

export class MemoryConversationRepository implements ConversationRepository {
  private readonly rows;
  private readonly accounts;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Kept>(store, 'conversations');
    this.accounts = accountRows(store);
    this.projects = new MemoryTable<Project>(store, 'projects');
  }

  async add(conversation: Conversation, messages: readonly ChatMessage[]): Promise<void> {
    const { id, projectId, accountId, createdAt } = conversation;
    if (!this.projects.get(projectId) || !this.accounts.get(accountId)) throw new NotFound('project');
    this.rows.put(id, { id, projectId, accountId, conversation, messages: numbered(messages, 1, createdAt) });
  }

  async append(key: ConversationKey, messages: readonly ChatMessage[], at: Date): Promise<boolean> {
    const kept = this.kept(key);
    if (!kept) return false;
    const { messageCount: before, updatedAt } = kept.conversation;
    const messageCount = before + messages.length;
    if (messageCount > conversationLimits.messages) return false;
    this.rows.put(kept.id, {
      ...kept,
      conversation: { ...kept.conversation, messageCount, updatedAt: at > updatedAt ? at : updatedAt },
      messages: [...kept.messages, ...numbered(messages, before + 1, at)],
    });
    return true;
  }

  async find(key: ConversationKey): Promise<Conversation | null> {
    return this.kept(key)?.conversation ?? null;
  }

  async count(of: Omit<ConversationKey, 'id'>): Promise<number> {
    return this.all(of).length;
  }

  async list(
    of: Omit<ConversationKey, 'id'>,
    { limit, after }: Parameters<ConversationRepository['list']>[1],
  ): Promise<Conversation[]> {
    const listed = this.all(of).filter(({ id }) => after === null || id < after);
    return listed.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
  }

  async recent(accountId: string, teamId: string, limit: number): Promise<Conversation[]> {
    const own = this.rows.all().filter((one) => one.accountId === accountId);
    const ofTeam = own.filter(({ projectId }) => this.projects.get(projectId)?.teamId === teamId);
    const latestFirst = (a: Conversation, b: Conversation) =>
      b.updatedAt.getTime() - a.updatedAt.getTime() || (a.id < b.id ? 1 : -1);
    return ofTeam
      .map(({ conversation }) => conversation)
      .sort(latestFirst)
      .slice(0, limit);
  }

  async messages(id: string, page: Parameters<ConversationRepository['messages']>[1]): Promise<ConversationMessage[]> {
    const all = this.rows.get(id)?.messages ?? [];
    const { limit, before } = page;
    return all.filter(({ number }) => before === null || number < before).slice(-limit);
  }

  async remove(key: ConversationKey): Promise<boolean> {
    return this.kept(key) !== null && this.rows.remove(key.id);
  }

  private kept({ id, projectId, accountId }: ConversationKey): Kept | null {
    const kept = this.rows.get(id);
    return kept?.projectId === projectId && kept.accountId === accountId ? kept : null;
  }

  private all(of: Omit<ConversationKey, 'id'>): Conversation[] {
    const own = this.rows.all().filter((one) => one.projectId === of.projectId && one.accountId === of.accountId);
    return own.map(({ conversation }) => conversation);
  }
}

const numbered = (messages: readonly ChatMessage[], from: number, createdAt: Date): ConversationMessage[] =>
  messages.map(({ role, content }, index) => ({ role, content, number: from + index, createdAt }));
