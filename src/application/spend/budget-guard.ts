import { injectable } from 'inversify';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import { BudgetExceeded } from '../../domain/spend/budget.js';
import { type Amounts, type Demand, NOTHING } from '../../domain/spend/demand.js';
import { KeyLimitReached } from '../../domain/spend/key-limit.js';
import { InstanceRegistry } from '../jobs/ports.js';
import { Clock, Logger } from '../shared/ports.js';
import { type Bounds, HoldRepository, type Spender, type SpendScopes } from './ports.js';
import { SpendMeter } from './spend-meter.js';

/** A call that is under budgets. */
export interface GuardedCall {
  readonly by: AccountCaller;
  readonly callId: string;
  readonly projectId: string | null;
  /** The time of its arrival, which tells its periods. */
  readonly at: Date;
  /** Makes the demand. To count a prompt takes time. */
  readonly demand: () => Promise<Demand>;
}

/** Limits the settlements that wait in memory while the database is out of reach. */
const UNSETTLED = 10_000;

/** After this time, a statement whose confirmation was lost has ended: longer than the database lets one run. */
const LOST_STATEMENT_MS = 5_000;

interface Unsettled {
  readonly taken: Amounts;
  /** Before this time, the holds may still come. */
  readonly from: number;
}

/** Takes the holds of calls before their models begin, and settles those of calls that leave no job. */
@injectable()
export class BudgetGuard {
  /** The settlements that could not be stored yet, by call. */
  private readonly unsettled = new Map<string, Unsettled>();

  constructor(
    private readonly holds: HoldRepository,
    private readonly instances: InstanceRegistry,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly meter: SpendMeter,
  ) {}

  /** Returns the bounds of the call, or null if no budget applies. Throws BudgetExceeded, KeyLimitReached, and what `demand` throws. */
  async take({ by, callId, projectId, at, demand }: GuardedCall): Promise<Bounds | null> {
    const keyId = by.kind === 'api_key' ? by.credentialId : null;
    const { teamId, accountId } = by;
    return this.hold({ callId, projectId, keyId, teamId, accountId }, await demand(), at);
  }

  /** Does what `take` does for a call of the service itself. Makes the demand only if budgets apply. */
  async takeOwn(
    { callId, at, ...scopes }: SpendScopes & Pick<GuardedCall, 'callId' | 'at'>,
    demand: () => Promise<Demand>,
  ): Promise<Bounds | null> {
    if (!(await this.holds.applies(scopes))) return null;
    return this.hold({ ...scopes, callId }, await demand(), at);
  }

  /** Settles the holds of a call without a job. If that is not possible now, `catchUp` does it later. Never throws. */
  async settle(callId: string, taken: Amounts): Promise<void> {
    try {
      await this.holds.settle(callId, taken);
      this.unsettled.delete(callId);
    } catch (error) {
      this.settleLater(callId, taken);
      this.log.warn('holds are not settled yet', { call_id: callId, error });
    }
  }

  /** Makes the settlements that could not be stored before. Must be called every few seconds. */
  async catchUp(): Promise<void> {
    const now = this.clock.now().getTime();
    for (const [callId, { taken, from }] of [...this.unsettled]) if (from <= now) await this.settle(callId, taken);
  }

  private async hold(spender: Omit<Spender, 'instance'>, demand: Demand, at: Date): Promise<Bounds | null> {
    const instance = await this.instances.own();
    const taken = await this.holds.take({ ...spender, instance }, demand, at).catch((error) => {
      this.settleLater(spender.callId, NOTHING, LOST_STATEMENT_MS);
      throw error;
    });
    if ('refused' in taken) {
      this.meter.refusedBy(taken.refused.scope);
      throw new BudgetExceeded(taken.refused, this.clock.now());
    }
    if ('reached' in taken) throw new KeyLimitReached(taken.reached, demand, this.clock.now());
    return taken.budgets > 0 ? taken : null;
  }

  /** Without room, the holds stay until this instance ends. */
  private settleLater(callId: string, taken: Amounts, pauseMs = 0): void {
    const from = this.clock.now().getTime() + pauseMs;
    if (this.unsettled.size < UNSETTLED || this.unsettled.has(callId)) this.unsettled.set(callId, { taken, from });
    else this.log.error('holds stay until the instance ends', { call_id: callId });
  }
}
