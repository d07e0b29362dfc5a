import { injectable } from 'inversify';
import { Account } from '../../domain/accounts/account.js';
import { TokenNotFound } from '../../domain/accounts/errors.js';
import { MailedToken } from '../../domain/accounts/mailed-token.js';
import { Actor } from '../../domain/audit/audit-entry.js';
import { Audit } from '../audit/audit.js';
import { Clock, SecretTokens, UnitOfWork } from '../shared/ports.js';
import { ChoosePassword } from './choose-password.js';
import { AccountRepository, MailedTokenRepository } from './ports.js';
import { ReplacePassword } from './replace-password.js';

/** Sets a new password by the token of a reset e-mail, and ends every session of the account. */
@injectable()
export class ResetPassword {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly mailed: MailedTokenRepository,
    private readonly accounts: AccountRepository,
    private readonly choosePassword: ChoosePassword,
    private readonly replacePassword: ReplacePassword,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly clock: Clock,
  ) {}

  /** Throws InvalidRequest, TokenNotFound, TokenUsed, TokenExpired, HashingBusy. */
  async execute(input: { token: string; password: string; revokeKeys: boolean }): Promise<Account> {
    await this.use(input.token);
    const { password } = Account.profile({ password: input.password });
    const passwordHash = await this.choosePassword.execute(password);
    return this.unitOfWork.run(async () => {
      const { used, account } = await this.use(input.token);
      await this.mailed.save(used);
      const details = { keys_revoked: input.revokeKeys };
      await this.audit.record({ by: Actor.self(account), action: 'account.password_reset', object: account, details });
      return this.replacePassword.execute({ account, passwordHash, revokeKeys: input.revokeKeys });
    });
  }

  private async use(token: string): Promise<{ used: MailedToken; account: Account }> {
    const known = this.tokens.read(token);
    const found = known?.kind === 'reset' ? await this.mailed.byDigest(known.digest) : null;
    const account = found && (await this.accounts.byId(found.accountId));
    if (!found || !account) throw new TokenNotFound();
    return { used: MailedToken.use(found, this.clock.now()), account };
  }
}
