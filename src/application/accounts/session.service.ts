import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import type { Caller } from '../../domain/accounts/caller.js';
import type { Credential } from '../../domain/accounts/credential.js';
import { InvalidCredentials } from '../../domain/accounts/errors.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Actor } from '../../domain/audit/audit-entry.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, UnitOfWork } from '../shared/ports.js';
import { Authority } from './authority.js';
import { CredentialIssuer, type SignedIn, type SignIn } from './credential-issuer.js';
import { AccountRepository, CredentialRepository, PasswordHasher } from './ports.js';

interface Revocation {
  /** Selects one account, or every account if null. */
  readonly email: string | null;
  /** Also revokes all API keys. */
  readonly keys: boolean;
}

const ACCOUNTS_AT_ONCE = 100;

/** Limits a list of sessions, because each login adds a session. */
const LISTED_SESSIONS = 1_000;

@injectable()
export class SessionService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly credentials: CredentialRepository,
    private readonly authority: Authority,
    private readonly hasher: PasswordHasher,
    private readonly issuer: CredentialIssuer,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates a session, and an API key if wanted. Earlier ones stay. Throws HashingBusy. Throws InvalidCredentials
   * after the same time for an unknown e-mail and for a wrong password.
   */
  async logIn({ email, password, ...signIn }: SignIn & { email: string; password: string }): Promise<SignedIn> {
    const account = await this.accounts.byEmail(email);
    const matches = await this.hasher.matches(password, account?.passwordHash ?? null);
    if (!account || !matches) throw new InvalidCredentials();
    return this.unitOfWork.run(async () => {
      // The password may have changed, or the account may be gone, since the hash was read.
      const current = await this.accounts.byId(account.id);
      if (current?.passwordHash !== account.passwordHash) throw new InvalidCredentials();
      return this.issuer.signIn(current, { ...signIn, origin: 'login' });
    });
  }

  /** Deletes the caller's session and returns its id. */
  async logOut(by: Caller | null): Promise<string> {
    const { accountId, credentialId } = authorize(by, permissions.ownAccount);
    await this.credentials.remove({ accountId, kind: 'session', id: credentialId });
    return credentialId;
  }

  /** Lists the account's newest unexpired sessions, newest first. `currentId` is the id of the caller's session. */
  async list(by: Caller | null): Promise<{ sessions: Credential[]; currentId: string }> {
    const { accountId, credentialId } = authorize(by, permissions.ownAccount);
    const filter = { accountId, kind: 'session', now: this.clock.now() } as const;
    const sessions = await this.credentials.list(filter, { limit: LISTED_SESSIONS, after: null });
    return { sessions, currentId: credentialId };
  }

  /** Ends a session of the account on every instance at once. Throws NotFound, also for another account's session. */
  async end(by: Caller | null, { id }: { id: string }): Promise<void> {
    await this.unitOfWork.run(async () => {
      const actor = await this.authority.confirm(by, permissions.ownAccount);
      const removed = await this.credentials.remove({ accountId: actor.accountId, kind: 'session', id });
      if (!removed) throw new NotFound('session');
      await this.audit.record({ by: actor, action: 'session.revoked', object: { id } });
    });
  }

  /** Ends all sessions of the account except the caller's. */
  async endOthers(by: Caller | null): Promise<void> {
    await this.unitOfWork.run(async () => {
      const actor = await this.authority.confirm(by, permissions.ownAccount);
      const { accountId, credentialId: except } = actor;
      await this.credentials.removeAll({ accountId, kind: 'session', except });
      const object = { id: accountId };
      await this.audit.record({
        by: actor,
        action: 'account.sessions_revoked',
        object,
        details: { keys_revoked: false },
      });
    });
  }

  /** Ends sessions of one or all accounts. Returns the number of accounts. Checks no permission. Throws NotFound. */
  async revokeAll(by: Actor, { email, keys }: Revocation): Promise<number> {
    let count = 0;
    for await (const account of this.chosen(email)) {
      const details = { keys_revoked: keys };
      await this.unitOfWork.run(async () => {
        await this.credentials.removeAll({ accountId: account.id, kind: 'session' });
        if (keys) await this.credentials.removeAll({ accountId: account.id, kind: 'api_key' });
        await this.audit.record({ by, action: 'account.sessions_revoked', object: account, details });
      });
      count++;
    }
    return count;
  }

  private async *chosen(email: string | null): AsyncGenerator<Account> {
    if (email !== null) {
      const account = await this.accounts.byEmail(email);
      if (!account) throw new NotFound('account');
      yield account;
      return;
    }
    for (let after: string | null = null; ; ) {
      const page: Account[] = await this.accounts.all({ limit: ACCOUNTS_AT_ONCE, after });
      yield* page;
      after = page.at(-1)?.id ?? null;
      if (page.length < ACCOUNTS_AT_ONCE) return;
    }
  }
}
