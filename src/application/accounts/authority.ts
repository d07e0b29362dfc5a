import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { authorize, type CallerFor, denial, type Permission } from '../../domain/accounts/permission.js';
import type { DomainError } from '../../domain/shared/errors.js';
import { Clock } from '../shared/ports.js';
import { CredentialRepository } from './ports.js';

/** The lock for writes that count or check accounts, admins or pending invites: what they found stays true. */
export const MEMBERSHIP = 'accounts and invites';

/** An act that goes on, and the permission that it needs. */
export interface Act {
  readonly by: AccountCaller;
  readonly permission: Permission;
}

/** Checks the permission of a caller again, at the time of a write or during an act. */
@injectable()
export class Authority {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Authorizes the caller, after reading the credential and the account again. The master key has neither. Throws what
   * `authorize` throws. Must be called inside the unit of work that writes. Then nothing is written if, since the
   * request began, the credential was revoked, or the account lost its role or was removed.
   */
  async confirm<P extends Permission>(by: Caller | null, permission: P): Promise<CallerFor<P>> {
    if (!by || by.kind === 'master') return authorize(by, permission);
    const [holder = null] = await this.credentials.holdersById([by.credentialId], this.clock.now());
    return authorize(holder, permission);
  }

  /** Returns the acts whose callers have lost the permission, with the errors. Needs one statement for all acts. */
  async lost<A extends Act>(acts: readonly A[]): Promise<{ act: A; reason: DomainError }[]> {
    const ids = new Set(acts.map(({ by }) => by.credentialId));
    const holders = await this.credentials.holdersById([...ids], this.clock.now());
    const holderOf = new Map(holders.map((holder) => [holder.credentialId, holder]));
    return acts.flatMap((act) => {
      const reason = denial(holderOf.get(act.by.credentialId) ?? null, act.permission);
      return reason ? [{ act, reason }] : [];
    });
  }
}
