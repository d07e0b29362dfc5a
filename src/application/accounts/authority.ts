import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, type CallerFor, type Permission } from '../../domain/accounts/permission.js';
import { Clock } from '../shared/ports.js';
import { CredentialRepository } from './ports.js';

/** Judges what a caller may do at the moment of a write. */
@injectable()
export class Authority {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads the caller's credential and account again and throws what `authorize` throws. Run it inside the unit of work
   * that writes: then a credential revoked meanwhile, or an account demoted or removed meanwhile, writes nothing.
   */
  async confirm<P extends Permission>(caller: Caller | null, permission: P): Promise<CallerFor<P>> {
    if (!caller || caller.kind === 'master') return authorize(caller, permission);
    return authorize(await this.credentials.holderById(caller.credentialId, this.clock.now()), permission);
  }
}
