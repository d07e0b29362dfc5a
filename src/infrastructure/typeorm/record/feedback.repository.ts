import { injectable } from 'inversify';
import { In } from 'typeorm';
import type { FeedbackRepository } from '../../../application/record/ports.js';
import { Feedback, type FeedbackHistory } from '../../../domain/record/feedback.js';
import type { Json } from '../../../domain/workspace/json.js';
import { notFoundIfMissing } from '../storage-errors.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** TypeORM's types cannot follow a recursive type such as JSON. */
interface FeedbackRow extends Omit<Feedback, 'correction'> {
  readonly correction: object | null;
  /** The length of the texts and the correction. */
  readonly bytes: number;
}

export const FeedbackTable = defineTable<FeedbackRow>('call_feedback', {
  id: { type: 'text', primary: true },
  callId: { type: 'text' },
  projectId: { type: 'text' },
  accountId: { type: 'text' },
  keyId: { type: 'text', nullable: true },
  score: { type: 'double precision', nullable: true },
  label: { type: 'text', nullable: true },
  comment: { type: 'text', nullable: true },
  correction: { type: 'json', nullable: true },
  createdAt: { type: 'timestamptz' },
  isCurrent: { type: 'boolean' },
  bytes: { type: 'integer', select: false },
});

/** The ORM has no DISTINCT ON. */
const CORRECTIONS = `
  SELECT DISTINCT ON (call_id) call_id AS "callId", correction FROM call_feedback
   WHERE call_id = ANY($1::text[]) AND is_current AND correction IS NOT NULL
   ORDER BY call_id, created_at DESC, id DESC`;

@injectable()
export class TypeOrmFeedbackRepository implements FeedbackRepository {
  private readonly table = () => this.unitOfWork.repository(FeedbackTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /** A unique index lets only one feedback count. The unit of work of the loser runs again. */
  async add(feedback: Feedback): Promise<void> {
    const { callId, accountId } = feedback;
    const row = { ...feedback, bytes: Feedback.bytes(feedback) } as object as FeedbackRow;
    const replace = async () => {
      await this.table().update({ callId, accountId, isCurrent: true }, { isCurrent: false });
      await this.table().insert(row);
    };
    await notFoundIfMissing('call', () => this.unitOfWork.run(replace));
  }

  async ofCalls(callIds: readonly string[]): Promise<Feedback[]> {
    if (callIds.length === 0) return [];
    const where = { callId: In([...callIds]) };
    return (await this.table().find({ where, order: { createdAt: 'DESC', id: 'DESC' } })) as object[] as Feedback[];
  }

  async history(callId: string, accountId: string): Promise<FeedbackHistory> {
    const query = this.table().createQueryBuilder('one').select('count(*)::integer', 'count');
    const summed = query.addSelect('coalesce(sum(one.bytes), 0)::integer', 'bytes').where({ callId, accountId });
    return (await summed.getRawOne<FeedbackHistory>()) as FeedbackHistory;
  }

  async corrections(callIds: readonly string[]): Promise<ReadonlyMap<string, Json>> {
    const rows = await this.unitOfWork.query<{ callId: string; correction: Json }>(CORRECTIONS, [callIds]);
    return new Map(rows.map(({ callId, correction }) => [callId, correction]));
  }
}
