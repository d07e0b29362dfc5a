import type {
  ChatModel,
  ConnectedProject,
  ConversationKey,
  ConversationRepository,
  RuntimeConnection,
  RuntimeConnectionRepository,
} from '../../../src/application/chat/ports.js';
import type { Page, SizedItem, VersionPage } from '../../../src/application/shared/ports.js';
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
import { MemoryTable, sizeOf } from '../memory-table.js';

type Owner = Omit<ConversationKey, 'id'>;
type StoredConversation = Conversation & { readonly messages: readonly ConversationMessage[] };

export class MemoryConversationRepository implements ConversationRepository {
  private readonly rows;
  private readonly accounts;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<StoredConversation>(store, 'conversations');
    this.accounts = accountRows(store);
    this.projects = new MemoryTable<Project>(store, 'projects');
  }

  async add(conversation: Conversation, messages: readonly ChatMessage[]): Promise<void> {
    const { id, projectId, accountId, createdAt } = conversation;
    if (!this.projects.get(projectId) || !this.accounts.get(accountId)) throw new NotFound('project');
    this.rows.put(id, { ...conversation, messages: numbered(messages, 1, createdAt) });
  }

  async append(key: ConversationKey, messages: readonly ChatMessage[], at: Date): Promise<boolean> {
    const kept = this.kept(key);
    const messageCount = (kept?.messageCount ?? 0) + messages.length;
    if (!kept || messageCount > conversationLimits.messages) return false;
    return this.rows.replace(kept.id, {
      ...kept,
      messageCount,
      updatedAt: at > kept.updatedAt ? at : kept.updatedAt,
      messages: [...kept.messages, ...numbered(messages, kept.messageCount + 1, at)],
    });
  }

  async find(key: ConversationKey): Promise<Conversation | null> {
    const kept = this.kept(key);
    return kept && withoutMessages(kept);
  }

  async count(owner: Owner): Promise<number> {
    return this.rows.newest(isOf(owner)).length;
  }

  async list(owner: Owner, page: Page): Promise<Conversation[]> {
    return this.rows.newest(isOf(owner), page).map(withoutMessages);
  }

  async recent(accountId: string, teamId: string, limit: number): Promise<Conversation[]> {
    const isOfTeam = ({ projectId }: StoredConversation) => this.projects.get(projectId)?.teamId === teamId;
    const own = this.rows.newest((one) => one.accountId === accountId && isOfTeam(one));
    const latestFirst = own.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
    return latestFirst.slice(0, limit).map(withoutMessages);
  }

  async messages(id: string, { limit, before }: VersionPage): Promise<ConversationMessage[]> {
    const all = this.rows.get(id)?.messages ?? [];
    return all.filter(({ number }) => before === null || number < before).slice(-limit);
  }

  async messageSizes(id: string, page: VersionPage): Promise<SizedItem[]> {
    return (await this.messages(id, page)).map(({ number, content }) => sizeOf(number, content)).reverse();
  }

  async remove(key: ConversationKey): Promise<boolean> {
    return this.kept(key) !== null && this.rows.remove(key.id);
  }

  private kept(key: ConversationKey): StoredConversation | null {
    const kept = this.rows.get(key.id);
    return kept && isOf(key)(kept) ? kept : null;
  }
}

const isOf = (owner: Owner) => (one: StoredConversation) =>
  one.projectId === owner.projectId && one.accountId === owner.accountId;

const withoutMessages = ({ messages: _, ...conversation }: StoredConversation): Conversation => conversation;

const numbered = (messages: readonly ChatMessage[], first: number, createdAt: Date): ConversationMessage[] =>
  messages.map(({ role, content }, index) => ({ role, content, number: first + index, createdAt }));

export class MemoryRuntimeConnectionRepository implements RuntimeConnectionRepository {
  private readonly rows;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.projects = new MemoryTable<Project>(store, 'projects');
    this.rows = new MemoryTable<RuntimeConnection>(store, 'runtime_connections');
  }

  find = async (projectId: string) => this.rows.get(projectId);

  async ofProject(teamId: string, projectId: string): Promise<ConnectedProject | null> {
    const isOfTeam = this.projects.get(projectId)?.teamId === teamId;
    return isOfTeam ? { projectId, connection: this.rows.get(projectId) } : null;
  }

  async ofModel(teamId: string, model: string): Promise<ConnectedProject | null> {
    const named = this.projects.all().filter((one) => one.teamId === teamId && one.name === model);
    const only = named.length === 1 ? named[0] : null;
    return (await this.ofProject(teamId, model)) ?? (only ? this.ofProject(teamId, only.id) : null);
  }

  async connectedProjects(teamId: string): Promise<ChatModel[]> {
    const projects = this.rows.all().map(({ projectId }) => this.projects.get(projectId) as Project);
    const own = projects.filter((project) => project.teamId === teamId);
    return own.map(({ id, createdAt }) => ({ id, createdAt })).sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async ofProjects(projectIds: readonly string[]): Promise<RuntimeConnection[]> {
    return this.rows.all().filter(({ projectId }) => projectIds.includes(projectId));
  }

  save = async (connection: RuntimeConnection) => this.rows.put(connection.projectId, connection);

  async setDesired(projectId: string, desired: RuntimeConnection['desired']): Promise<boolean> {
    const connection = this.rows.get(projectId);
    return connection !== null && this.rows.replace(projectId, { ...connection, desired });
  }

  remove = async (projectId: string) => this.rows.remove(projectId);

  started = async () => this.rows.all().filter(({ desired }) => desired === 'started');
}
