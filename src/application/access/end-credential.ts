import type { Caller } from '../../domain/access/caller.js';
import type { Credential } from '../../domain/access/credential.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Credentials } from './ports/credentials.js';

/** Ends one of one's own sessions or keys, at once and in every process. */
export class EndCredential {
  constructor(private readonly credentials: Credentials) {}

  /** Throws NotFound, for somebody else's too. */
  async execute(input: { by: Caller | null; kind: Credential['kind']; id: string }): Promise<void> {
    const { accountId } = authorize(input.by, permissions.ownAccount);
    const { kind, id } = input;
    if (!(await this.credentials.removeOwn({ accountId, kind }, id))) {
      throw new NotFound(kind === 'session' ? 'session' : 'key');
    }
  }
}
