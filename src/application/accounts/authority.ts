import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { KeyRestricted } from '../../domain/accounts/key-restrictions.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, type CallerFor, denial, type Permission } from '../../domain/accounts/permission.js';
import type { DomainError } from '../../domain/shared/errors.js';
import { Clock } from '../shared/ports.js';
import { CredentialRepository } from './ports.js';

/** The lock for writes that count or check accounts, admins or pending invites: what they found stays true. */
export const MEMBERSHIP = 'accounts and invites';

/** An act that goes on, and the permission that it needs. `Authority.place` tells its project. */
export interface Act {
  readonly by: AccountCaller;
  readonly permission: Permission;
}

/** Checks the permission of a caller again, at the time of a write or during an act. */
@injectable()
export class Authority {
  /** The projects of acts, by their callers. Each request has a caller of its own. */
  private readonly places = new WeakMap<AccountCaller, string>();

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

  /** Tells in which project the caller acts, so that the act is lost when the caller's key is no longer for this project. */
  place(by: Caller, projectId: string): void {
    if (by.kind === 'api_key') this.places.set(by, projectId);
  }

  /** Returns the acts whose callers have lost the permission, with the errors. Needs one statement for all acts. */
  async lost<A extends Act>(acts: readonly A[]): Promise<{ act: A; reason: DomainError }[]> {
    const ids = new Set(acts.map(({ by }) => by.credentialId));
    const holders = await this.credentials.holdersById([...ids], this.clock.now());
    const holderOf = new Map(holders.map((holder) => [holder.credentialId, holder]));
    return acts.flatMap((act) => {
      const holder = holderOf.get(act.by.credentialId) ?? null;
      const reason = denial(holder, act.permission) ?? this.placeRefusal(holder, act);
      return reason ? [{ act, reason }] : [];
    });
  }

  private placeRefusal(holder: AccountCaller | null, { by }: Act): DomainError | null {
    const place = this.places.get(by);
    return holder && place !== undefined && !KeyScope.covers(holder, place)
      ? new KeyRestricted('is for other projects')
      : null;
  }
}
