import { injectable } from 'inversify';
import { type EntitySchema, LessThanOrEqual, type ObjectLiteral } from 'typeorm';
import type { ExpirableKind, ExpiredData } from '../../../application/operations/ports.js';
import { CredentialTable } from '../accounts/credential.repository.js';
import { OutboxTable } from '../accounts/mail-outbox.js';
import { MailedTokenTable } from '../accounts/mailed-token.repository.js';
import { SpentSiteTokenTable } from '../accounts/spent-site-token.repository.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** The table of each kind, with the field that holds the end of a row. */
const TABLES: Readonly<Record<ExpirableKind, { readonly table: EntitySchema<ObjectLiteral>; readonly end: string }>> = {
  credentials: { table: CredentialTable, end: 'expiresAt' },
  mailed_tokens: { table: MailedTokenTable, end: 'expiresAt' },
  mails: { table: OutboxTable, end: 'deliveredAt' },
  site_tokens: { table: SpentSiteTokenTable, end: 'expiresAt' },
};

@injectable()
export class TypeOrmExpiredData implements ExpiredData {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  remove(kind: ExpirableKind, before: Date, most: number): Promise<number> {
    const { table, end } = TABLES[kind];
    return this.unitOfWork.readCommitted(async () => {
      const rows = this.unitOfWork.repository(table);
      const expired = await rows.find({
        where: { [end]: LessThanOrEqual(before) },
        order: { [end]: 'ASC' },
        take: most,
        lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
      });
      if (expired.length > 0) await rows.delete(expired.map((row) => rows.getId(row)));
      return expired.length;
    });
  }
}
