import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { CredentialRepository } from './ports.js';

/** Deletes the session that the call came with. */
@injectable()
export class LogOut {
  constructor(private readonly credentials: CredentialRepository) {}

  async execute(input: { by: Caller | null }): Promise<{ id: string }> {
    const { credentialId } = authorize(input.by, permissions.ownAccount);
    await this.credentials.remove(credentialId);
    return { id: credentialId };
  }
}
