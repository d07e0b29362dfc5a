import type { Spender, SpendScopes } from '../../../application/spend/ports.js';
import { budgetUnits } from '../../../domain/spend/budget.js';
import { costText } from '../../../domain/spend/cost.js';
import { type Amounts, Demand } from '../../../domain/spend/demand.js';

/** Turns off synchronous commits for the transaction, as a part of another statement. */
export const NOT_DURABLE = "set_config('synchronous_commit', 'off', true)";

/** A call that takes its holds. */
export interface Taking {
  readonly spender: Spender;
  readonly demand: Demand;
  readonly at: Date;
}

/** A row of `take_holds`. */
export interface TakenRow {
  /** The id of the budget that has no room. Null: the call has taken its holds. */
  readonly refused: string | null;
  /** The most tokens of each answer. Null: no bound. */
  readonly mostTokens: string | null;
  readonly mostMs: string;
  /** The number of budgets that hold for the call. */
  readonly count: number;
}

export const TAKEN = 'refused, most_tokens AS "mostTokens", most_ms AS "mostMs", count';

/** Returns amounts for `settle_holds`. */
export const amountsJson = (amounts: Amounts): string =>
  JSON.stringify(Object.fromEntries(budgetUnits.map((unit) => [unit, costText(amounts[unit])])));

export const scopesOf = ({ teamId, projectId, accountId, keyId }: SpendScopes): string[] =>
  [teamId, projectId, accountId, keyId].filter((id) => id !== null);

/** All periods begin with a minute, so calls of one minute have the same periods. */
const MINUTE_MS = 60_000;

/** Calls with the same key can take their holds in one statement, if they are of the same team. */
export const takingKey = ({ spender, at }: Taking): string =>
  `${spender.instance} ${Math.floor(at.getTime() / MINUTE_MS)}`;

/** Returns the parameters of `take_holds` for calls with the same key. */
export function takingValues(calls: readonly Taking[]): unknown[] {
  const [{ spender, at }] = calls as readonly [Taking];
  const scopes = new Set(calls.flatMap((call) => scopesOf(call.spender)));
  return [spender.teamId, [...scopes], spender.instance, at, JSON.stringify(calls.map(callOf))];
}

function callOf({ spender, demand }: Taking): object {
  const { mostTokens, isExact, mostMs } = demand;
  const linear = Demand.linear(demand);
  const units = budgetUnits.map((unit) => {
    const { fixed, perToken } = linear[unit];
    return [unit, { fixed: costText(fixed), per_token: costText(perToken) }];
  });
  return {
    id: spender.callId,
    scopes: scopesOf(spender),
    least_tokens: isExact ? (mostTokens ?? 0) : Math.min(1, mostTokens ?? 1),
    most_tokens: mostTokens,
    most_ms: mostMs,
    units: { ...Object.fromEntries(units), places: { fixed: 1, per_token: 0 } },
  };
}
