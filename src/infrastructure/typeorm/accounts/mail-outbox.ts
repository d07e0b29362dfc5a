import { MoreThanOrEqual } from 'typeorm';
import type { MailOutbox, OutgoingMail } from '../../../application/accounts/ports.js';
import type { Message } from '../../../domain/accounts/mailed-token.js';
import { Sealer } from '../../crypto/secrets.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface OutboxRow {
  readonly id: string;
  /** The message as sealed JSON, since it holds links that open an account. Null once delivered. */
  readonly sealed: string | null;
  readonly failures: number;
  /** The time of the next attempt, or the end of the sender's lease. */
  readonly dueAt: Date;
  readonly deliveredAt: Date | null;
  readonly series: string | null;
  /** The first `dueAt` of a mail of a series; null for others. */
  readonly firstDueAt: Date | null;
}

export const OutboxTable = defineTable<OutboxRow>('outbox', {
  id: { type: 'text', primary: true },
  sealed: { type: 'text', nullable: true },
  failures: { type: 'integer' },
  dueAt: { type: 'timestamptz' },
  deliveredAt: { type: 'timestamptz', nullable: true },
  series: { type: 'text', nullable: true },
  firstDueAt: { type: 'timestamptz', nullable: true },
});

/** SQL by hand: the ORM has no UPDATE of a row that a subquery locks. */
const TAKE = `
  UPDATE outbox SET due_at = $2
   WHERE id = (SELECT id FROM outbox WHERE delivered_at IS NULL AND due_at <= $1
                ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, sealed, failures`;

export class TypeOrmMailOutbox implements MailOutbox {
  private readonly table = () => this.unitOfWork.repository(OutboxTable);

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly sealer: Sealer,
  ) {}

  async add({ id, message, dueAt, series }: Parameters<MailOutbox['add']>[0]): Promise<void> {
    const sealed = this.sealer.seal(JSON.stringify(message), id);
    const counted = series === undefined ? {} : { series, firstDueAt: dueAt };
    await this.table().insert({ id, sealed, failures: 0, dueAt, deliveredAt: null, ...counted });
  }

  countOf(series: string, since: Date): Promise<number> {
    return this.table().countBy({ series, firstDueAt: MoreThanOrEqual(since) });
  }

  async take(now: Date, leasedUntil: Date): Promise<OutgoingMail | null> {
    type Taken = { id: string; sealed: string; failures: number };
    const [row] = await this.unitOfWork.prepared<Taken>('outbox-take', TAKE, [now, leasedUntil]);
    if (!row) return null;
    const { id, failures } = row;
    return { id, message: this.opened(row), failures };
  }

  async delivered(id: string, at: Date): Promise<void> {
    await this.table().update({ id }, { sealed: null, deliveredAt: at });
  }

  async failed(id: string, dueAt: Date): Promise<void> {
    await this.table().update({ id }, { dueAt, failures: () => 'failures + 1' });
  }

  private opened({ id, sealed }: { id: string; sealed: string }): Message {
    try {
      return JSON.parse(this.sealer.open(sealed, id)) as Message;
    } catch {
      // The mail stays leased, so that it does not hold up the others.
      throw new Error(
        `the mail ${id} was sealed with another SERVICE_SECRET: start with the one that it was sealed with`,
      );
    }
  }
}
