import { injectable } from 'inversify';
import { In } from 'typeorm';
import type { FeedbackRepository } from '../../../application/record/ports.js';
import { Feedback, type FeedbackHistory, feedbackLimits } from '../../../domain/record/feedback.js';
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

/** The JSON of a feedback without its texts and its correction. */
const FIELDS_BYTES = 512;

/** The ORM has no window functions. Only the feedback that is shown is read as a whole. */
const CURRENT = `
  SELECT id, call_id AS "callId", bytes
    FROM (SELECT id, call_id, bytes, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
            FROM call_feedback WHERE call_id = ANY($1::text[]) AND is_current
          WINDOW newest AS (PARTITION BY call_id ORDER BY created_at DESC, id DESC)) counting
   WHERE place <= ${feedbackLimits.listed} AND total <= ${feedbackLimits.listedBytes}`;

const NEWEST = { createdAt: 'DESC', id: 'DESC' } as const;

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
    return (await this.table().find({ where, order: NEWEST })) as object[] as Feedback[];
  }

  async bytesOf(callId: string): Promise<number> {
    const size = `coalesce(sum(one.bytes + ${FIELDS_BYTES}), 0)::float`;
    const query = this.table().createQueryBuilder('one').select(size, 'bytes').where({ callId });
    return (await query.getRawOne<{ bytes: number }>())?.bytes ?? 0;
  }

  async current(callIds: readonly string[]): Promise<Feedback[]> {
    const id = In((await this.counting(callIds)).map((one) => one.id));
    return (await this.table().find({ where: { id }, order: NEWEST })) as object[] as Feedback[];
  }

  async sizesOfCurrent(callIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    for (const { callId, bytes } of await this.counting(callIds))
      sizes.set(callId, (sizes.get(callId) ?? 0) + bytes + FIELDS_BYTES);
    return sizes;
  }

  private async counting(callIds: readonly string[]): Promise<Pick<FeedbackRow, 'id' | 'callId' | 'bytes'>[]> {
    return callIds.length === 0 ? [] : this.unitOfWork.query(CURRENT, [callIds]);
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
