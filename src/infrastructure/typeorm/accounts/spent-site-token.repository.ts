import { injectable } from 'inversify';
import type { SpentSiteTokenRepository } from '../../../application/accounts/ports.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

const FORGET = 'DELETE FROM spent_site_tokens WHERE expires_at <= $1';
const SPEND = 'INSERT INTO spent_site_tokens (jti, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING jti';

@injectable()
export class TypeOrmSpentSiteTokenRepository implements SpentSiteTokenRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async spend(tokenId: string, expiresAt: Date, now: Date): Promise<boolean> {
    await this.unitOfWork.prepared('site-tokens-forget', FORGET, [now]);
    if (expiresAt <= now) return false; // it would be forgotten, and so be new again
    const added = await this.unitOfWork.prepared('site-token-spend', SPEND, [tokenId, expiresAt]);
    return added.length === 1;
  }
}
