import { injectable } from 'inversify';
import { Account } from '../../domain/accounts/account.js';
import { Actor } from '../../domain/audit/audit-entry.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.service.js';
import { UnitOfWork } from '../shared/ports.js';
import { TokenMailer } from './account-mails.js';
import { PasswordChanger } from './password-changer.js';
import { AccountRepository } from './ports.js';

interface NewPassword {
  readonly password: string;
  /** Also revokes the keys that the account has minted. */
  readonly revokeKeys: boolean;
}

/** Sets new passwords without the old password: with a reset e-mail, or from the command line. */
@injectable()
export class PasswordService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly passwords: PasswordChanger,
    private readonly mailer: TokenMailer,
    private readonly audit: Audit,
  ) {}

  /** Sends a reset e-mail if an account with a password has this address. Does not reveal whether there is one. */
  requestReset({ email }: { email: string }): Promise<void> {
    return this.unitOfWork.run(async () => {
      const account = await this.accounts.byEmail(email);
      if (account?.passwordHash) await this.mailer.send(account, 'reset');
    });
  }

  /**
   * Sets a password with the token of a reset e-mail and ends every session of the account.
   * Throws InvalidRequest, TokenNotFound, TokenUsed, TokenExpired, HashingBusy.
   */
  async reset({ token, revokeKeys, ...typed }: NewPassword & { token: string }): Promise<Account> {
    await this.mailer.check(token, 'reset');
    const { password } = Account.profile(typed);
    const passwordHash = await this.passwords.hash(password);
    return this.unitOfWork.run(async () => {
      const account = await this.mailer.redeem(token, 'reset');
      return this.replace(Actor.self(account), account, passwordHash, revokeKeys);
    });
  }

  /** Sets a password and ends every session. Checks no permission. Throws NotFound, InvalidRequest, HashingBusy. */
  async set(by: Actor, { email, revokeKeys, ...typed }: NewPassword & { email: string }): Promise<Account> {
    await this.accountOf(email);
    const { password } = Account.profile(typed);
    const passwordHash = await this.passwords.hash(password);
    return this.unitOfWork.run(async () => this.replace(by, await this.accountOf(email), passwordHash, revokeKeys));
  }

  private async replace(by: Actor, account: Account, passwordHash: string, revokeKeys: boolean): Promise<Account> {
    const details = { keys_revoked: revokeKeys };
    await this.audit.record({ by, action: 'account.password_reset', object: account, details });
    return this.passwords.replace({ account, passwordHash, revokeKeys });
  }

  private async accountOf(email: string): Promise<Account> {
    const account = await this.accounts.byEmail(email);
    if (!account) throw new NotFound('account');
    return account;
  }
}
