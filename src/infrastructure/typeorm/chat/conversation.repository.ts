import { injectable } from 'inversify';
import { LessThan } from 'typeorm';
import type { ConversationKey, ConversationRepository } from '../../../application/chat/ports.js';
import type { ChatMessage } from '../../../domain/chat/chat.js';
import { type Conversation, type ConversationMessage, conversationLimits } from '../../../domain/chat/conversation.js';
import { NotFound } from '../../../domain/shared/errors.js';
import { isForeignKeyViolation } from '../storage-errors.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const ConversationTable = defineTable<Conversation>({
  name: 'Conversation',
  tableName: 'conversations',
  columns: {
    id: { type: 'text', primary: true },
    projectId: { type: 'text', name: 'project_id' },
    accountId: { type: 'text', name: 'account_id' },
    title: { type: 'text' },
    messageCount: { type: 'integer', name: 'message_count' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    updatedAt: { type: 'timestamptz', name: 'updated_at' },
  },
});

interface MessageRow extends ConversationMessage {
  readonly conversationId: string;
}

export const ConversationMessageTable = defineTable<MessageRow>({
  name: 'ConversationMessage',
  tableName: 'conversation_messages',
  columns: {
    conversationId: { type: 'text', name: 'conversation_id', primary: true },
    number: { type: 'integer', primary: true },
    role: { type: 'text' },
    content: { type: 'text' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
  },
});

/** One statement, so that who comes at the same time waits for the row, and then numbers on from what it finds there. */
const APPEND = `
  WITH grown AS (
    UPDATE conversations
       SET message_count = message_count + cardinality($4::text[]), updated_at = greatest(updated_at, $6)
     WHERE id = $1 AND project_id = $2 AND account_id = $3 AND message_count + cardinality($4::text[]) <= $7
    RETURNING id, message_count - cardinality($4::text[]) AS before
  )
  INSERT INTO conversation_messages (conversation_id, number, role, content, created_at)
  SELECT id, before + nth, role, content, $6
    FROM grown, unnest($4::text[], $5::text[]) WITH ORDINALITY AS said (role, content, nth)
  RETURNING number`;

@injectable()
export class TypeOrmConversationRepository implements ConversationRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(conversation: Conversation, messages: readonly ChatMessage[]): Promise<void> {
    try {
      await this.unitOfWork.run(async () => {
        await this.table.insert({ ...conversation, messageCount: 0 });
        await this.append(conversation, messages, conversation.createdAt);
      });
    } catch (error) {
      throw isForeignKeyViolation(error) ? new NotFound('project') : error;
    }
  }

  async append(key: ConversationKey, messages: readonly ChatMessage[], at: Date): Promise<boolean> {
    const { id, projectId, accountId } = key;
    const said = [messages.map(({ role }) => role), messages.map(({ content }) => content)];
    const values = [id, projectId, accountId, ...said, at, conversationLimits.messages];
    const written = await this.unitOfWork.prepared('append to conversation', APPEND, values);
    return written.length > 0;
  }

  find({ id, projectId, accountId }: ConversationKey): Promise<Conversation | null> {
    return this.table.findOneBy({ id, projectId, accountId });
  }

  count({ projectId, accountId }: Omit<ConversationKey, 'id'>): Promise<number> {
    return this.table.countBy({ projectId, accountId });
  }

  list(
    { projectId, accountId }: Omit<ConversationKey, 'id'>,
    { limit, after }: Parameters<ConversationRepository['list']>[1],
  ): Promise<Conversation[]> {
    const where = { projectId, accountId, ...(after !== null && { id: LessThan(after) }) };
    return this.table.find({ where, order: { id: 'DESC' }, take: limit });
  }

  recent(accountId: string, teamId: string, limit: number): Promise<Conversation[]> {
    return this.table
      .createQueryBuilder('c')
      .innerJoin('Project', 'p', 'p.id = c.projectId AND p.teamId = :teamId', { teamId })
      .where('c.accountId = :accountId', { accountId })
      .orderBy({ 'c.updatedAt': 'DESC', 'c.id': 'DESC' })
      .limit(limit)
      .getMany();
  }

  async messages(
    conversationId: string,
    { limit, before }: Parameters<ConversationRepository['messages']>[1],
  ): Promise<ConversationMessage[]> {
    const where = { conversationId, ...(before !== null && { number: LessThan(before) }) };
    const table = this.unitOfWork.table(ConversationMessageTable);
    const rows = await table.find({ where, order: { number: 'DESC' }, take: limit });
    return rows.map(({ conversationId: _, ...message }) => message).reverse();
  }

  async remove({ id, projectId, accountId }: ConversationKey): Promise<boolean> {
    const { affected } = await this.table.delete({ id, projectId, accountId });
    return affected === 1;
  }

  private get table() {
    return this.unitOfWork.table(ConversationTable);
  }
}
