import { injectable } from 'inversify';
import { Account } from '../../domain/accounts/account.js';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { Unauthenticated, WrongPassword } from '../../domain/accounts/errors.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Actor } from '../../domain/audit/audit-entry.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, UnitOfWork } from '../shared/ports.js';
import { TokenMailer } from './account-mails.js';
import { Authority } from './authority.js';
import { PasswordChanger } from './password-changer.js';
import { AccountRepository, PasswordHasher } from './ports.js';

interface AccountChange {
  readonly name?: string | undefined;
  readonly alertEmails?: boolean | undefined;
  readonly password?: string | undefined;
  /** Required with `password`. */
  readonly currentPassword?: string | undefined;
  /** If true, a new password also revokes the keys that the account has minted. */
  readonly revokeKeys: boolean;
}

/** Reads and changes the caller's own account. */
@injectable()
export class AccountService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly authority: Authority,
    private readonly hasher: PasswordHasher,
    private readonly passwords: PasswordChanger,
    private readonly mailer: TokenMailer,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Returns the caller. The account was already read together with the credential. */
  async read(by: Caller | null): Promise<AccountCaller> {
    return authorize(by, permissions.ownAccount);
  }

  /**
   * Changes the name, the wish for alert e-mails or the password. A new password ends the account's other sessions, and
   * revokes the keys of registrations and logins. Throws InvalidRequest, WrongPassword, Unauthenticated, HashingBusy.
   */
  async update(by: Caller | null, change: AccountChange): Promise<Account> {
    const { accountId } = authorize(by, permissions.ownAccount);
    const { alertEmails, currentPassword, revokeKeys, ...typed } = change;
    const verifiedHash = typed.password === undefined ? null : await this.verifiedHash(accountId, currentPassword);
    const { name, password } = Account.profile(typed);
    const passwordHash = password && (await this.passwords.hash(password));
    return this.unitOfWork.run(async () => {
      const actor = await this.authority.confirm(by, permissions.ownAccount);
      const account = await this.own(accountId);
      const changed = { ...account, ...(name && { name }), ...(alertEmails !== undefined && { alertEmails }) };
      if (changed.name !== account.name || changed.alertEmails !== account.alertEmails) {
        const details = { name, alert_emails: alertEmails };
        await this.audit.record({ by: actor, action: 'account.changed', object: changed, details });
      }
      await this.accounts.change(account.id, { name: changed.name, alertEmails: changed.alertEmails });
      if (!passwordHash) return changed;
      // Another call may have changed the password while this call hashed.
      if (account.passwordHash !== verifiedHash) throw new WrongPassword();
      const details = { keys_revoked: revokeKeys };
      await this.audit.record({ by: actor, action: 'account.password_changed', object: changed, details });
      const keepSession = actor.credentialId;
      return this.passwords.replace({ account: changed, passwordHash, keepSession, revokeKeys });
    });
  }

  /** Confirms an e-mail address with the token that was sent to it. Throws TokenNotFound, TokenUsed, TokenExpired. */
  verifyEmail({ token }: { token: string }): Promise<Account> {
    return this.unitOfWork.run(async () => {
      const account = await this.mailer.redeem(token, 'verification');
      return this.verified(Actor.self(account), account);
    });
  }

  /** Confirms the e-mail address of an account, unless it is confirmed. Checks no permission. Throws NotFound. */
  verifyWithoutToken(by: Actor, { email }: { email: string }): Promise<Account> {
    return this.unitOfWork.run(async () => {
      const account = await this.accounts.byEmail(email);
      if (!account) throw new NotFound('account');
      return account.emailVerifiedAt ? account : this.verified(by, account);
    });
  }

  /** Sends another verification e-mail, unless the address is verified. Earlier tokens stay valid. */
  async resendVerification(by: Caller | null): Promise<Account> {
    const { accountId } = authorize(by, permissions.ownAccount);
    return this.unitOfWork.run(async () => {
      const account = await this.own(accountId);
      if (!account.emailVerifiedAt) await this.mailer.send(account, 'verification');
      return account;
    });
  }

  private async verified(by: Actor, account: Account): Promise<Account> {
    const verified = Account.verified(account, this.clock.now());
    await this.accounts.change(account.id, { emailVerifiedAt: verified.emailVerifiedAt });
    await this.audit.record({ by, action: 'account.email_verified', object: account });
    return verified;
  }

  /** Returns the account's password hash if `currentPassword` matches it. Throws InvalidRequest, WrongPassword. */
  private async verifiedHash(accountId: string, currentPassword: string | undefined): Promise<string | null> {
    if (currentPassword === undefined) {
      throw new InvalidRequest([{ path: 'current_password', message: 'is required to change the password' }]);
    }
    const { passwordHash } = await this.own(accountId);
    if (!(await this.hasher.matches(currentPassword, passwordHash))) throw new WrongPassword();
    return passwordHash;
  }

  private async own(accountId: string): Promise<Account> {
    const account = await this.accounts.byId(accountId);
    if (!account) throw new Unauthenticated();
    return account;
  }
}
