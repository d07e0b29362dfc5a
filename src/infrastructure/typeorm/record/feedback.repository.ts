import { injectable } from 'inversify';
import { In } from 'typeorm';
import type { FeedbackRepository } from '../../../application/record/ports.js';
import type { Feedback } from '../../../domain/record/feedback.js';
import { notFoundIfMissing } from '../storage-errors.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** TypeORM's types cannot follow a recursive type such as JSON. */
interface FeedbackRow extends Omit<Feedback, 'correction'> {
  readonly correction: object | null;
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
});

@injectable()
export class TypeOrmFeedbackRepository implements FeedbackRepository {
  private readonly table = () => this.unitOfWork.repository(FeedbackTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(feedback: Feedback): Promise<void> {
    const { callId, accountId } = feedback;
    await notFoundIfMissing('call', () =>
      this.unitOfWork.run(async () => {
        await this.table().update({ callId, accountId, isCurrent: true }, { isCurrent: false });
        await this.table().insert(feedback as FeedbackRow);
      }),
    );
  }

  async ofCalls(callIds: readonly string[]): Promise<Feedback[]> {
    const order = { createdAt: 'DESC', id: 'DESC' } as const;
    return (await this.table().find({ where: { callId: In([...callIds]) }, order })) as Feedback[];
  }
}
