import type { Credential } from '../../domain/accounts/credential.js';
import type { Budget, BudgetChanges, BudgetScope, Spent } from '../../domain/spend/budget.js';
import type { Nanos } from '../../domain/spend/cost.js';
import type { Amounts, Demand } from '../../domain/spend/demand.js';
import type { KeyLimit } from '../../domain/spend/key-limit.js';
import type { Page } from '../shared/ports.js';

/** Selects the budgets of a team. With `keys`, only those of these API keys. */
export interface BudgetFilter {
  readonly teamId: string | null;
  readonly keys?: readonly string[] | undefined;
  /** Only budgets for objects with these ids. Null: for all. */
  readonly only?: readonly string[] | null;
}

export interface SpentBudget extends Budget {
  readonly spent: Spent;
}

/** The sum of the calls of a period up to an end. */
export interface CountedCalls {
  readonly start: Date;
  readonly upTo: string;
  readonly taken: Nanos;
}

/** Stores budgets. A budget is deleted with its team, project, account or key. */
export abstract class BudgetRepository {
  /**
   * Returns the number of the last end of a call. Must be used under the exclusive lock of the ends: then all ends up to it
   * are stored.
   */
  abstract lastEnd(): Promise<string>;
  /**
   * Counts what the calls up to the end `upTo` have taken, if the budget began now. This takes time when there are many,
   * so it must not be used under a lock.
   */
  abstract counted(budget: Budget, upTo: string): Promise<CountedCalls>;
  /**
   * Adds a budget. Its present period has spent what the calls in its scope have taken since the start. Only those after
   * `counted` are counted now, or all if `counted` is of another period.
   */
  abstract add(budget: Budget, counted?: CountedCalls | null): Promise<void>;
  /** Returns a budget with what its period at `now` has spent. */
  abstract find(id: string, now: Date): Promise<SpentBudget | null>;
  /** Returns those of the budgets that there are, with what their periods at `now` have spent, in any order. */
  abstract some(ids: readonly string[], now: Date): Promise<SpentBudget[]>;
  /** Lists the newest first, beginning after the id `after`. */
  abstract list(filter: BudgetFilter, page: Page, now: Date): Promise<SpentBudget[]>;
  abstract count(teamId: string): Promise<number>;
  /** Tells whether a budget of the team, of the project, or of an account or a key of the team limits costs. */
  abstract limitCost(teamId: string, projectId: string): Promise<boolean>;
  /** Stores the given fields, of which there is at least one, and leaves the others. Returns false if the budget is gone. */
  abstract update(id: string, changes: BudgetChanges): Promise<boolean>;
  /** Removes a budget with its periods. Holds on it end with their calls. Returns false if there is none. */
  abstract remove(id: string): Promise<boolean>;
  /** Returns the team of the object that a budget is for, or null if there is none. */
  abstract teamOf(scope: BudgetScope, scopeId: string): Promise<string | null>;
  /** Returns the ids of the API keys of an account. */
  abstract keysOf(accountId: string): Promise<string[]>;
}

/** The scopes of a call. */
export interface SpendScopes {
  readonly teamId: string;
  readonly projectId: string | null;
  readonly accountId: string;
  readonly keyId: string | null;
}

/** A call that takes from budgets. */
export interface Spender extends SpendScopes {
  readonly callId: string;
  readonly instance: number;
}

/** The bounds of a call that has taken its holds. */
export interface Bounds {
  /** At least the tokens of the prompt. */
  readonly promptTokens: number;
  /** The most tokens of each answer. Null: no bound. */
  readonly mostTokens: number | null;
  readonly mostMs: number;
  /** The number of budgets that hold for the call. */
  readonly budgets: number;
}

/** The most that a call with holds can have taken. */
export interface Most {
  readonly taken: Amounts;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** The time at which it took the holds. */
  readonly at: Date;
}

/** The amounts that a call has taken at its end. */
export interface Charge {
  readonly taken: Amounts;
  /** True: the call has holds, or they are settled already. False: it had none, because there were no budgets. */
  readonly isHeld: boolean;
}

/**
 * The holds of calls on budgets. A hold lives as long as its instance. The end of a call settles its holds in
 * `JobHistory.append`. A crash of the database within the next second can undo a change.
 */
export abstract class HoldRepository {
  /** Tells whether there are budgets that a call of these scopes is under. */
  abstract applies(scopes: SpendScopes): Promise<boolean>;
  /**
   * Takes a hold on every budget that applies, for the most that the call can take. Cuts a bound that is not exact to what
   * remains. Returns the bounds of the call.
   *
   * If a budget or a limit of the key has no room, takes no hold at all, and returns this budget or limit.
   *
   * `settled` and `held` together never exceed the limit of a budget that refuses, whatever the number of calls and
   * instances. The call belongs to the periods of the time `at`.
   */
  abstract take(
    spender: Spender,
    demand: Demand,
    at: Date,
  ): Promise<Bounds | { readonly refused: Budget } | { readonly reached: KeyLimit }>;
  /**
   * Turns the holds of a call into what it has taken. Null: into their bounds, because nobody knows what the call has
   * taken. Does nothing if they are settled already.
   */
  abstract settle(callId: string, taken: Amounts | null): Promise<void>;
  /** Lists the instances that have holds. */
  abstract instances(): Promise<number[]>;
  /** Lists the calls of an instance that have holds, by their ids. */
  abstract callsOf(instance: number, limit: number): Promise<string[]>;
  /**
   * Returns the most that a call with holds can have taken, because nobody knows what its dead instance has made, and when
   * it took the holds. Null: it has none.
   */
  abstract most(callId: string): Promise<Most | null>;
}

/**
 * The limits of API keys that all instances share: `tokensPerMinute` and `maxConcurrent`. Calls take them with their holds
 * on budgets, and give them back in the same way. They are deleted with the key.
 */
export abstract class KeyLimitRepository {
  /** Stores the limits of a key, within the unit of work that stores the key. They hold from the next call on. */
  abstract save(key: Credential, teamId: string): Promise<void>;
}
