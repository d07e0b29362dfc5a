import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { Credential } from '../../domain/accounts/credential.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Audit } from '../audit/audit.js';
import { Clock, IdGenerator, SecretTokens } from '../shared/ports.js';
import { CredentialRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly name: string | null;
  readonly lifetimeSeconds: number | null;
}

@injectable()
export class MintKey {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** The secret is handed out this once. */
  async execute({ by, name, lifetimeSeconds }: Input): Promise<{ key: Credential; secret: string }> {
    const caller = authorize(by, permissions.mintKeys);
    const { accountId } = caller;
    const { token, digest, hint } = this.tokens.issue('api_key');
    const createdAt = this.clock.now();
    const expiresAt = lifetimeSeconds === null ? null : new Date(createdAt.getTime() + lifetimeSeconds * 1000);
    const id = this.ids.next('key');
    const key = Credential.apiKey({ id, accountId, digest, hint, name, origin: 'minted', createdAt, expiresAt });
    await this.audit.perform({ by: caller, action: 'api_key.minted', object: key }, () => this.credentials.add(key));
    return { key, secret: token };
  }
}
