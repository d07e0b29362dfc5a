import type { Caller } from '../../domain/access/caller.js';
import type { Credential } from '../../domain/access/credential.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Credentials } from './ports/credentials.js';

interface Input {
  readonly by: Caller | null;
  readonly kind: Credential['kind'];
  readonly page?: { readonly limit: number; readonly after: string | null };
}

/** One's own live sessions or keys, newest first; `currentId` is the session that asks. */
export class ListCredentials {
  constructor(
    private readonly credentials: Credentials,
    private readonly clock: Clock,
  ) {}

  async execute({ by, kind, page }: Input): Promise<{ credentials: Credential[]; currentId: string }> {
    const { accountId, credentialId } = authorize(by, permissions.ownAccount);
    const filter = { accountId, kind, now: this.clock.now() };
    return { credentials: await this.credentials.list(filter, page), currentId: credentialId };
  }
}
