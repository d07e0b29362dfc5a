import { injectable } from 'inversify';
import { LessThanOrEqual } from 'typeorm';
import type { SpentSiteTokenRepository } from '../../../application/accounts/ports.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface SpentSiteTokenRow {
  readonly tokenId: string;
  readonly expiresAt: Date;
}

export const SpentSiteTokenTable = defineTable<SpentSiteTokenRow>({
  name: 'SpentSiteToken',
  tableName: 'spent_site_tokens',
  columns: {
    tokenId: { type: 'text', name: 'jti', primary: true },
    expiresAt: { type: 'timestamptz', name: 'expires_at' },
  },
});

@injectable()
export class TypeOrmSpentSiteTokenRepository implements SpentSiteTokenRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async spend(tokenId: string, expiresAt: Date, now: Date): Promise<boolean> {
    await this.table.delete({ expiresAt: LessThanOrEqual(now) });
    if (expiresAt <= now) return false; // its row would be deleted, and the token would pass again
    const insert = this.table.createQueryBuilder().insert().values({ tokenId, expiresAt }).orIgnore();
    const { raw } = await insert.returning('jti').execute();
    return raw.length === 1;
  }

  private get table() {
    return this.unitOfWork.repository(SpentSiteTokenTable);
  }
}
