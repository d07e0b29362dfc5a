import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import type { Credential } from '../../domain/accounts/credential.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Clock } from '../shared/ports.js';
import { CredentialRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly kind: Credential['kind'];
  readonly page?: { readonly limit: number; readonly after: string | null };
}

/** One's own live sessions or keys, newest first; `currentId` is the session that asks. */
@injectable()
export class ListCredentials {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly clock: Clock,
  ) {}

  async execute({ by, kind, page }: Input): Promise<{ credentials: Credential[]; currentId: string }> {
    const { accountId, credentialId } = authorize(by, permissions.ownAccount);
    const filter = { accountId, kind, now: this.clock.now() };
    return { credentials: await this.credentials.list(filter, page), currentId: credentialId };
  }
}
