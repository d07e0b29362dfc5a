import type { Caller } from '../../domain/access/caller.js';
import { Credential } from '../../domain/access/credential.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Audit } from '../audit/audit.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import type { SecretTokens } from '../shared/ports/secret-tokens.js';
import type { Credentials } from './ports/credentials.js';

interface Input {
  readonly by: Caller | null;
  readonly name: string | null;
  readonly lifetimeSeconds: number | null;
}

export class MintKey {
  constructor(
    private readonly credentials: Credentials,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly ids: Identifiers,
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
