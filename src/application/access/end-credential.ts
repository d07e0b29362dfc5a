import type { Caller } from '../../domain/access/caller.js';
import type { Credential } from '../../domain/access/credential.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Audit } from '../audit/audit.js';
import type { Credentials } from './ports/credentials.js';

/** Ends one of one's own sessions or keys, at once and in every process. */
export class EndCredential {
  constructor(
    private readonly credentials: Credentials,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, for somebody else's too. */
  async execute(input: { by: Caller | null; kind: Credential['kind']; id: string }): Promise<void> {
    const caller = authorize(input.by, permissions.ownAccount);
    const { kind, id } = input;
    const removed = await this.audit.perform({ by: caller, action: `${kind}.revoked`, object: { id } }, () =>
      this.credentials.removeOwn({ accountId: caller.accountId, kind }, id),
    );
    if (!removed) throw new NotFound(kind === 'session' ? 'session' : 'key');
  }
}
