import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { BudgetExceeded } from '../../domain/spend/budget.js';
import type { Demand } from '../../domain/spend/demand.js';
import { InstanceRegistry } from '../jobs/ports.js';
import { Clock } from '../shared/ports.js';
import { type Bounds, HoldRepository } from './ports.js';

/** A call that may be under budgets. */
export interface GuardedCall {
  readonly by: Caller;
  readonly callId: string;
  readonly projectId: string | null;
  /** Makes the demand. It is called only if there are budgets, because to count a prompt takes time. */
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

  /** Returns the bounds of the call, or null if no budget applies. Throws BudgetExceeded, and what `demand` throws. */
  async take({ by, callId, projectId, demand }: GuardedCall): Promise<Bounds | null> {
    if (by.kind === 'master') return null;
    const keyId = by.kind === 'api_key' ? by.credentialId : null;
    const scopes = { teamId: by.teamId, projectId, accountId: by.accountId, keyId };
    if (!(await this.holds.applies(scopes))) return null;
    const spender = { ...scopes, callId, instance: await this.instances.own() };
    const now = this.clock.now();
    const taken = await this.holds.take(spender, await demand(), now);
    if ('refused' in taken) throw new BudgetExceeded(taken.refused, now);
    return taken.budgets > 0 ? taken : null;
  }
}
