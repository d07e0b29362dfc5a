import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, type CallerFor, type Permission } from '../../domain/accounts/permission.js';
import { Clock } from '../shared/ports.js';
import { CredentialRepository } from './ports.js';

/** The lock for writes that count or check accounts, admins or pending invites: what they found stays true. */
export const MEMBERSHIP = 'accounts and invites';

/** Checks the permission of a caller again at the time of a write. */
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
    return authorize(await this.credentials.holderById(by.credentialId, this.clock.now()), permission);
  }
}
