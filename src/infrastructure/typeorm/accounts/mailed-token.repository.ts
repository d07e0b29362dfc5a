import { injectable } from 'inversify';
import { IsNull, LessThanOrEqual, MoreThan } from 'typeorm';
import type { MailedTokenRepository, SpentSiteTokenRepository } from '../../../application/accounts/ports.js';
import type { MailedToken, MailedTokenPurpose } from '../../../domain/accounts/mailed-token.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const MailedTokenTable = defineTable<MailedToken>('mailed_tokens', {
  id: { type: 'text', primary: true },
  purpose: { type: 'text' },
  accountId: { type: 'text' },
  digest: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  expiresAt: { type: 'timestamptz' },
  usedAt: { type: 'timestamptz', nullable: true },
});

@injectable()
export class TypeOrmMailedTokenRepository implements MailedTokenRepository {
  private readonly table = () => this.unitOfWork.repository(MailedTokenTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(token: MailedToken): Promise<void> {
    await this.table().insert(token);
  }

  async save({ id, ...change }: MailedToken): Promise<void> {
    await this.table().update({ id }, change);
  }

  byDigest(digest: string): Promise<MailedToken | null> {
    return this.table().findOneBy({ digest });
  }

  countSince(accountId: string, purpose: MailedTokenPurpose, since: Date): Promise<number> {
    return this.table().countBy({ accountId, purpose, createdAt: MoreThan(since) });
  }

  async removeUnused(accountId: string, purpose: MailedTokenPurpose): Promise<void> {
    await this.table().delete({ accountId, purpose, usedAt: IsNull() });
  }
}

interface SpentSiteTokenRow {
  readonly tokenId: string;
  readonly expiresAt: Date;
}

export const SpentSiteTokenTable = defineTable<SpentSiteTokenRow>('spent_site_tokens', {
  tokenId: { type: 'text', name: 'jti', primary: true },
  expiresAt: { type: 'timestamptz' },
});

@injectable()
export class TypeOrmSpentSiteTokenRepository implements SpentSiteTokenRepository {
  private readonly table = () => this.unitOfWork.repository(SpentSiteTokenTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async spend(tokenId: string, expiresAt: Date, now: Date): Promise<boolean> {
    await this.table().delete({ expiresAt: LessThanOrEqual(now) });
    if (expiresAt <= now) return false; // its row would be deleted, and the token would be accepted again
    const insert = this.table().createQueryBuilder().insert().values({ tokenId, expiresAt }).orIgnore();
    const { raw } = await insert.returning('jti').execute();
    return raw.length === 1;
  }
}
