import { injectable } from 'inversify';
import type { HoldRepository, Spender, SpendScopes } from '../../../application/spend/ports.js';
import { type BudgetUnit, budgetUnits } from '../../../domain/spend/budget.js';
import { nanosOfCost } from '../../../domain/spend/cost.js';
import type { Amounts, Demand } from '../../../domain/spend/demand.js';
import { CallBatches } from '../jobs/call-batches.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { BudgetTable, budgetOf } from './budget.repository.js';
import { keyLimitOf } from './key-limit.repository.js';
import { amountsJson, NOT_DURABLE, scopesOf } from './taking.js';

const APPLIES = 'SELECT EXISTS (SELECT FROM budgets WHERE team_id = $1 AND scope_id = ANY ($2)) AS applies';
const SETTLE = `
  SELECT ${NOT_DURABLE},
         settle_holds(NULL, jsonb_build_array(jsonb_build_object('id', $1::text, 'taken', $2::jsonb, 'is_held', true)))`;
const mostOf = (unit: BudgetUnit): string => {
  const linear = ['fixed', 'per_token'].map((part) => `(units->'${unit}'->>'${part}')::numeric`);
  const most = unit === 'seconds' ? 'most_ms / 1000' : linear.join(' + coalesce(most_tokens, 0) * ');
  return `(${most})::numeric(38, 9) AS ${unit}`;
};
/** The clock of the database may be late, so that the periods of the hold have not begun for it. */
const TAKEN_AT = 'greatest(taken_at, (SELECT max(start) FROM unnest(starts) AS start)) AS at';
const PROMPT = "(units->'tokens'->>'fixed')::numeric::float8";
const MOST = `SELECT ${TAKEN_AT}, ${PROMPT} AS prompt, ${budgetUnits.map(mostOf)} FROM budget_holds WHERE call_id = $1`;

@injectable()
export class TypeOrmHoldRepository implements HoldRepository {
  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly batches: CallBatches,
  ) {}

  async applies(scopes: SpendScopes): Promise<boolean> {
    const values = [scopes.teamId, scopesOf(scopes)];
    const [row] = await this.unitOfWork.prepared<{ applies: boolean }>('budgets of a call', APPLIES, values);
    return row?.applies ?? false;
  }

  async take(spender: Spender, demand: Demand, at: Date): ReturnType<HoldRepository['take']> {
    const { refused, mostTokens, mostMs, count } = await this.batches.take({ spender, demand, at });
    if (refused !== null) {
      const budget = await this.unitOfWork.repository(BudgetTable).findOneBy({ id: refused });
      const reached = budget && keyLimitOf(budget);
      if (reached) return { reached };
      if (budget) return { refused: budgetOf(budget) };
      return this.take(spender, demand, at); // the budget was deleted meanwhile, so it does not refuse again
    }
    const most = { mostTokens: mostTokens === null ? null : Number(mostTokens), mostMs: Number(mostMs) };
    return { promptTokens: demand.promptTokens, ...most, budgets: count };
  }

  async settle(callId: string, taken: Amounts | null): Promise<void> {
    await this.unitOfWork.prepared('end of holds', SETTLE, [callId, taken && amountsJson(taken)]);
  }

  async instances(): Promise<number[]> {
    const rows = await this.unitOfWork.query<{ instance: number }>('SELECT DISTINCT instance FROM budget_holds');
    return rows.map(({ instance }) => instance);
  }

  async callsOf(instance: number, limit: number): Promise<string[]> {
    const calls = 'SELECT call_id AS id FROM budget_holds WHERE instance = $1 ORDER BY id LIMIT $2';
    return (await this.unitOfWork.query<{ id: string }>(calls, [instance, limit])).map(({ id }) => id);
  }

  async most(callId: string): ReturnType<HoldRepository['most']> {
    const [row] = await this.unitOfWork.query<Record<BudgetUnit, string> & { at: Date; prompt: number }>(MOST, [
      callId,
    ]);
    if (!row) return null;
    const taken = Object.fromEntries(budgetUnits.map((unit) => [unit, nanosOfCost(row[unit])])) as never as Amounts;
    return { taken, tokensIn: row.prompt, tokensOut: Number(row.tokens) - row.prompt, at: row.at };
  }
}
