import { injectable } from 'inversify';
import { LessThanOrEqual } from 'typeorm';
import type { ConversationKey, ConversationRepository, StoredConversations } from '../../../application/chat/ports.js';
import type { Page, SizedItem, VersionPage } from '../../../application/shared/ports.js';
import type { ChatMessage } from '../../../domain/chat/chat.js';
import { type Conversation, type ConversationMessage, conversationLimits } from '../../../domain/chat/conversation.js';
import { textBytes } from '../../../domain/shared/storage-quota.js';
import { notFoundIfMissing } from '../storage-errors.js';
import { changesOne, defineTable, newest, plus, type StoredBytes, sizesOf, storedBytes } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { ProjectTable } from '../workspace/project.repository.js';

export const ConversationTable = defineTable<Conversation & StoredBytes>('conversations', {
  id: { type: 'text', primary: true },
  projectId: { type: 'text' },
  accountId: { type: 'text' },
  title: { type: 'text' },
  messageCount: { type: 'integer' },
  createdAt: { type: 'timestamptz' },
  updatedAt: { type: 'timestamptz' },
  storedBytes,
});

interface MessageRow extends ConversationMessage {
  readonly conversationId: string;
}

export const ConversationMessageTable = defineTable<MessageRow>('conversation_messages', {
  conversationId: { type: 'text', primary: true },
  number: { type: 'integer', primary: true },
  role: { type: 'text' },
  content: { type: 'text' },
  createdAt: { type: 'timestamptz' },
});

@injectable()
export class TypeOrmConversationRepository implements ConversationRepository {
  private readonly table = () => this.unitOfWork.repository(ConversationTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  add(conversation: Conversation, messages: readonly ChatMessage[]): Promise<void> {
    return notFoundIfMissing('project', () =>
      this.unitOfWork.run(async () => {
        await this.table().insert({ ...conversation, messageCount: 0, storedBytes: 0 });
        await this.append(conversation, messages, conversation.createdAt);
      }),
    );
  }

  append(key: ConversationKey, messages: readonly ChatMessage[], at: Date): Promise<boolean> {
    const { id, projectId, accountId } = key;
    const count = messages.length;
    const bytes = messages.reduce((sum, { content }) => sum + textBytes(content), 0);
    return this.unitOfWork.run(async () => {
      const room = LessThanOrEqual(conversationLimits.messages - count);
      const { raw } = await this.table()
        .createQueryBuilder()
        .update({
          messageCount: () => 'message_count + :count',
          storedBytes: plus(bytes),
          updatedAt: () => 'greatest(updated_at, :at)',
        })
        .where({ id, projectId, accountId, messageCount: room })
        .setParameters({ count, at })
        .returning('message_count AS total')
        .execute();
      if (raw.length === 0) return false;
      const before = raw[0].total - count;
      const rows = messages.map(({ role, content }, index) => ({
        ...{ role, content, conversationId: id, createdAt: at },
        number: before + index + 1,
      }));
      await this.unitOfWork.repository(ConversationMessageTable).insert(rows);
      return true;
    });
  }

  find({ id, projectId, accountId }: ConversationKey): Promise<Conversation | null> {
    return this.table().findOneBy({ id, projectId, accountId });
  }

  async stored({ projectId, accountId }: Omit<ConversationKey, 'id'>): Promise<StoredConversations> {
    const all = this.table().createQueryBuilder('one').where({ accountId }).setParameters({ projectId });
    const counted = all.select('count(*) FILTER (WHERE one.projectId = :projectId)', 'inProject');
    const row = await counted.addSelect('coalesce(sum(one.storedBytes), 0)', 'bytes').getRawOne();
    return { inProject: Number(row.inProject), bytes: Number(row.bytes) };
  }

  list({ projectId, accountId }: Omit<ConversationKey, 'id'>, page: Page): Promise<Conversation[]> {
    return this.table().find(newest({ projectId, accountId }, page));
  }

  recent(
    ...[accountId, teamId, limit, projects = null]: Parameters<ConversationRepository['recent']>
  ): Promise<Conversation[]> {
    return this.table()
      .createQueryBuilder('c')
      .innerJoin(ProjectTable.options.name, 'p', 'p.id = c.projectId AND p.teamId = :teamId', { teamId })
      .where('c.accountId = :accountId', { accountId })
      .andWhere(projects ? 'c.projectId = ANY (:projects)' : 'true', { projects })
      .orderBy({ 'c.updatedAt': 'DESC', 'c.id': 'DESC' })
      .limit(limit)
      .getMany();
  }

  async messages(conversationId: string, page: VersionPage): Promise<ConversationMessage[]> {
    const rows = await this.unitOfWork
      .repository(ConversationMessageTable)
      .find(newest<MessageRow>({ conversationId }, page, 'number'));
    return rows.map(({ conversationId: _, ...message }) => message).reverse();
  }

  messageSizes(conversationId: string, page: VersionPage): Promise<SizedItem[]> {
    const table = this.unitOfWork.repository(ConversationMessageTable);
    return sizesOf(table, newest<MessageRow>({ conversationId }, page, 'number'), ['content']);
  }

  remove({ id, projectId, accountId }: ConversationKey): Promise<boolean> {
    return changesOne(this.table().delete({ id, projectId, accountId }));
  }
}
