import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { Credential } from '../../domain/accounts/credential.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { LimitReached, NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, IdGenerator, type Page, UnitOfWork } from '../shared/ports.js';
import { Authority } from './authority.js';
import { CredentialRepository, SecretTokens } from './ports.js';

interface NewKey {
  readonly name: string | null;
  /** Null: the key does not expire. */
  readonly lifetimeSeconds: number | null;
}

/** Limits the unexpired minted keys of an account. Keys of registrations and logins do not count. */
const MOST_KEYS = 100;

/** Manages the caller's own API keys. */
@injectable()
export class ApiKeyService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly credentials: CredentialRepository,
    private readonly authority: Authority,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Creates a key and returns its secret. The secret cannot be read again. Throws LimitReached. */
  async mint(by: Caller | null, { name, lifetimeSeconds }: NewKey): Promise<{ key: Credential; secret: string }> {
    const { accountId } = authorize(by, permissions.mintKeys);
    return this.unitOfWork.run(async () => {
      const actor = await this.authority.confirm(by, permissions.mintKeys);
      const { token, digest, hint } = this.tokens.issue('api_key');
      const createdAt = this.clock.now();
      const minted = { accountId, kind: 'api_key', origin: 'minted', now: createdAt } as const;
      if ((await this.credentials.list(minted)).length >= MOST_KEYS) {
        throw new LimitReached(MOST_KEYS, 'API keys of your account');
      }
      const expiresAt = lifetimeSeconds === null ? null : new Date(createdAt.getTime() + lifetimeSeconds * 1000);
      const id = this.ids.next('key');
      const key = Credential.apiKey({ id, accountId, digest, hint, name, origin: 'minted', createdAt, expiresAt });
      await this.credentials.add(key);
      await this.audit.record({ by: actor, action: 'api_key.minted', object: key });
      return { key, secret: token };
    }, `keys of ${accountId}`);
  }

  /** Lists the account's unexpired keys, newest first. */
  async list(by: Caller | null, { page }: { page: Page }): Promise<Credential[]> {
    const { accountId } = authorize(by, permissions.ownAccount);
    return this.credentials.list({ accountId, kind: 'api_key', now: this.clock.now() }, page);
  }

  /** Revokes a key of the account on every instance at once. Throws NotFound, also for another account's key. */
  async revoke(by: Caller | null, { id }: { id: string }): Promise<void> {
    await this.unitOfWork.run(async () => {
      const actor = await this.authority.confirm(by, permissions.ownAccount);
      const removed = await this.credentials.remove({ accountId: actor.accountId, kind: 'api_key', id });
      if (!removed) throw new NotFound('key');
      await this.audit.record({ by: actor, action: 'api_key.revoked', object: { id } });
    });
  }
}
