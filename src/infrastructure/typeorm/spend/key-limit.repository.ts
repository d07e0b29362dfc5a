import { injectable } from 'inversify';
import { In, Not } from 'typeorm';
import type { KeyLimitRepository } from '../../../application/spend/ports.js';
import type { Credential } from '../../../domain/accounts/credential.js';
import type { KeyLimit } from '../../../domain/spend/key-limit.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type BudgetRow, BudgetTable } from './budget.repository.js';

/** Each call of a model holds one place until it ends, and settles nothing. */
const PLACES = 'places';

/** Returns the limit that a hidden budget stands for, or null for a budget that somebody has made. */
export const keyLimitOf = ({ isKeyLimit, unit, limit }: BudgetRow): KeyLimit | null =>
  isKeyLimit ? { of: (unit as string) === PLACES ? 'calls' : 'tokens', limit: Number(limit) } : null;

/** Stores the limits of keys as hidden budgets that refuse. They are deleted with their key. */
@injectable()
export class TypeOrmKeyLimitRepository implements KeyLimitRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async save({ id: keyId, tokensPerMinute, maxConcurrent }: Credential, teamId: string): Promise<void> {
    const table = this.unitOfWork.repository(BudgetTable);
    const about = {
      teamId,
      scope: 'key',
      scopeId: keyId,
      isKeyLimit: true,
      onExceed: 'refuse',
      ofAdmin: true,
    } as const;
    const limits = [
      { unit: 'tokens', period: 'minute', limit: tokensPerMinute },
      { unit: PLACES, period: 'total', limit: maxConcurrent },
    ].flatMap(({ limit, ...one }) =>
      limit === null ? [] : [{ ...one, id: `${keyId} ${one.unit}`, limit: String(limit) }],
    );
    await table.delete({ scopeId: keyId, isKeyLimit: true, id: Not(In(limits.map(({ id }) => id))) });
    for (const limit of limits) {
      // Calls that began before the limit and had no holds take nothing from it.
      const row = { ...about, ...limit, createdBy: null, createdAt: new Date(0) } as BudgetRow;
      await table.upsert(row, ['id']);
    }
  }
}
