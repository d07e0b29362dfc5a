import { injectable } from 'inversify';
import type { ExpirableKind, ExpiredData } from '../../../application/operations/ports.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

const removal = (table: string, key: string, over: string) => `
  DELETE FROM ${table} WHERE ${key} = ANY(ARRAY(
    SELECT ${key} FROM ${table} WHERE ${over} <= $1 ORDER BY ${over} LIMIT $2 FOR UPDATE SKIP LOCKED))
  RETURNING ${key}`;

const REMOVALS: Readonly<Record<ExpirableKind, string>> = {
  credentials: removal('credentials', 'id', 'expires_at'),
  mailed_tokens: removal('mailed_tokens', 'id', 'expires_at'),
  mails: removal('outbox', 'id', 'delivered_at'),
  site_tokens: removal('spent_site_tokens', 'jti', 'expires_at'),
};

@injectable()
export class TypeOrmExpiredData implements ExpiredData {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async remove(kind: ExpirableKind, before: Date, most: number): Promise<number> {
    const removed = await this.unitOfWork.prepared(`leftovers-${kind}`, REMOVALS[kind], [before, most]);
    return removed.length;
  }
}
