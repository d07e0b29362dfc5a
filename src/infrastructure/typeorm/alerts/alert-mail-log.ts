import { injectable } from 'inversify';
import { MoreThanOrEqual } from 'typeorm';
import type { AlertMail, AlertMailLog } from '../../../application/alerts/ports.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const AlertMailTable = defineTable<AlertMail>('alert_mails', {
  id: { type: 'text', primary: true },
  accountId: { type: 'text' },
  sentAt: { type: 'timestamptz' },
});

@injectable()
export class TypeOrmAlertMailLog implements AlertMailLog {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(mail: AlertMail): Promise<void> {
    await this.unitOfWork.repository(AlertMailTable).insert(mail);
  }

  countSince(accountId: string, since: Date): Promise<number> {
    return this.unitOfWork.repository(AlertMailTable).countBy({ accountId, sentAt: MoreThanOrEqual(since) });
  }
}
