import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Credentials } from '../access/ports/credentials.js';

/** Deletes the session that the call came with. */
export class LogOut {
  constructor(private readonly credentials: Credentials) {}

  async execute(input: { by: Caller | null }): Promise<{ id: string }> {
    const { credentialId } = authorize(input.by, permissions.ownAccount);
    await this.credentials.remove(credentialId);
    return { id: credentialId };
  }
}
