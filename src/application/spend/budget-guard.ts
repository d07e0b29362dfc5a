import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { BudgetExceeded } from '../../domain/spend/budget.js';
import { Demand } from '../../domain/spend/demand.js';
import { KeyLimitReached } from '../../domain/spend/key-limit.js';
import type { PricedCall, Prices } from '../../domain/spend/prices.js';
import { InstanceRegistry } from '../jobs/ports.js';
import { Clock } from '../shared/ports.js';
import { type Bounds, HoldRepository, type Spender } from './ports.js';

/** A call of a team that has budgets. */
export interface GuardedCall {
  readonly by: Caller;
  readonly callId: string;
  readonly projectId: string | null;
  /** Makes the demand. To count a prompt takes time. */
  readonly demand: () => Promise<Demand>;
}

/** Takes the holds of calls before their models begin. */
@injectable()
export class BudgetGuard {
  constructor(
    private readonly holds: HoldRepository,
    private readonly instances: InstanceRegistry,
    private readonly clock: Clock,
  ) {}

  /** Returns the bounds of the call, or null if no budget and no limit of a key applies. Throws BudgetExceeded,
   * KeyLimitReached, and what `demand` throws. */
  async take({ by, callId, projectId, demand }: GuardedCall): Promise<Bounds | null> {
    if (by.kind === 'master') return null;
    const keyId = by.kind === 'api_key' ? by.credentialId : null;
    return this.takeFor({ callId, projectId, keyId, teamId: by.teamId, accountId: by.accountId }, demand);
  }

  /** Does what `take` does. Without budgets, it asks the database once and makes no demand. */
  async takeFor(spender: Omit<Spender, 'instance'>, demand: () => Promise<Demand>): Promise<Bounds | null> {
    if (!(await this.holds.applies(spender))) return null;
    const instance = await this.instances.own();
    const wanted = await demand();
    const now = this.clock.now();
    const taken = await this.holds.take({ ...spender, instance }, wanted, now);
    if ('refused' in taken) throw new BudgetExceeded(taken.refused, now);
    if ('reached' in taken) throw new KeyLimitReached(taken.reached, wanted, now);
    return taken.budgets > 0 ? taken : null;
  }

  /** Settles the holds of a call that has no job. Null: it has taken nothing. */
  async settle(callId: string, prices: Prices | null, call: PricedCall | null): Promise<void> {
    const none = { tokensIn: null, tokensOut: null, milliseconds: 0 };
    await this.holds.settle(callId, Demand.taken(prices, call ?? none, call !== null));
  }
}
