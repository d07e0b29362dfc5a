import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import type { Credential } from '../../domain/accounts/credential.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.js';
import { CredentialRepository } from './ports.js';

/** Ends one of one's own sessions or keys, at once and in every process. */
@injectable()
export class EndCredential {
  constructor(
    private readonly credentials: CredentialRepository,
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
